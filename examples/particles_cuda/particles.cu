// Charged particles in a magnetic field, on a GPU: a particle is a plain struct, each thread moves one, and the method
// that moves it is written once for any struct of floats. See README.md.
//
//   particles_cuda [PARTICLES [STEPS]]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <espalier/map.hpp>
#include <espalier/reduce.hpp>
#include <espalier/visit.hpp>
#include <espalier/visit_update.hpp>
#include <vector>

struct vec3 {
  float x, y, z;
};
struct particle {
  vec3 position, velocity;  // m, m/s
  float charge, mass;       // C, kg
};

// The field points along z, everywhere alike.
constexpr float field_strength = 1.0f;  // T
constexpr float time_step = 0.01f;      // s

// --- What moves a particle: constexpr functions, which nvcc compiles for the GPU and for the host. -------------------

// The derivative of a particle with respect to time is a particle too: Lorentz's force turns the velocity, and charge and
// mass stay as they are.
constexpr particle derivative(const particle& p) {
  const float turn = p.charge / p.mass * field_strength;
  return {p.velocity, {turn * p.velocity.y, -turn * p.velocity.x, 0}, 0, 0};
}

// One step of the classical Runge-Kutta method, for a state that is any tree of floats.
template <class State> constexpr void runge_kutta_step(State& state, float dt) {
  const auto ahead = [&state](float time, const State& slope) {
    return espalier::tree_map([time](float x, float dx) { return x + time * dx; }, state, slope);
  };
  const State k1 = derivative(state);
  const State k2 = derivative(ahead(dt / 2, k1));
  const State k3 = derivative(ahead(dt / 2, k2));
  const State k4 = derivative(ahead(dt, k3));
  espalier::tree_visit_update(
      [dt](float x, float a, float b, float c, float d) { return x + dt / 6 * (a + 2 * b + 2 * c + d); }, state, k1, k2,
      k3, k4);
}

constexpr float kinetic_energy(const particle& p) {
  return p.mass / 2 * espalier::tree_reduce([](float sum, float v) { return sum + v * v; }, p.velocity, 0.0f);
}

// A stream of numbers in [0, 1), different for each seed.
struct random_numbers {
  unsigned state;

  constexpr float next() {
    state = state * 747796405u + 2891336453u;
    const unsigned word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;  // PCG, O'Neill 2014
    return static_cast<float>(((word >> 22) ^ word) >> 8) / 16777216.0f;
  }
};

// --- The kernels: one thread, one particle. --------------------------------------------------------------------------

__device__ unsigned thread_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void scatter(particle* particles, unsigned n) {
  const unsigned i = thread_index();
  if (i >= n) return;
  random_numbers random{i};
  espalier::tree_visit([&random](float& x) { x = 2 * random.next() - 1; }, particles[i]);
  particles[i].mass = 1 + random.next();
}

__global__ void move(particle* particles, unsigned n) {
  const unsigned i = thread_index();
  if (i < n) runge_kutta_step(particles[i], time_step);
}

__global__ void sum_energy(const particle* particles, unsigned n, double* sum) {
  double mine = 0;
  for (unsigned i = thread_index(); i < n; i += gridDim.x * blockDim.x) mine += kinetic_energy(particles[i]);
  atomicAdd(sum, mine);
}

// --- The check: the circle that the equations of motion are solved by, in double precision, member by member. --------

particle exact(const particle& start, double time) {
  const double turn = double(start.charge) / start.mass * field_strength;
  const double angle = turn * time;
  const double s = std::sin(angle), c = std::cos(angle);
  // sin(a)/turn and (1 - cos(a))/turn, which do not end at a charge of zero.
  const double along = turn == 0 ? time : s / turn;
  const double across = turn == 0 ? 0 : (1 - c) / turn;
  const vec3& v = start.velocity;
  particle end = start;
  end.position.x = float(start.position.x + along * v.x + across * v.y);
  end.position.y = float(start.position.y + along * v.y - across * v.x);
  end.position.z = float(start.position.z + time * v.z);
  end.velocity.x = float(c * v.x + s * v.y);
  end.velocity.y = float(c * v.y - s * v.x);
  return end;
}

// (A sum, which a NaN gets through.)
double difference(const particle& a, const particle& b) {
  double sum = 0;
  espalier::tree_visit([&sum](float x, float y) { sum += std::fabs(double(x) - y); }, a, b);
  return sum;
}

// --- The program. ----------------------------------------------------------------------------------------------------

void require(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "particles_cuda: %s\n", cudaGetErrorString(status));
  std::exit(1);
}

template <class T> std::vector<T> to_host(const T* there, std::size_t n) {
  std::vector<T> here(n);
  require(cudaMemcpy(here.data(), there, n * sizeof(T), cudaMemcpyDeviceToHost));
  return here;
}

double total_energy(const particle* particles, unsigned n) {
  double* sum = nullptr;
  require(cudaMalloc(&sum, sizeof(double)));
  require(cudaMemset(sum, 0, sizeof(double)));
  sum_energy<<<64, 256>>>(particles, n, sum);
  require(cudaGetLastError());
  const double energy = to_host(sum, 1)[0];
  require(cudaFree(sum));
  return energy;
}

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::atol(argv[1]) : 1 << 20;
  const long steps = argc > 2 ? std::atol(argv[2]) : 1000;
  if (argc > 3 || count < 1 || count > 1 << 30 || steps < 1) {
    std::fprintf(stderr, "usage: particles_cuda [PARTICLES [STEPS]]\n");
    return 2;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "particles_cuda: there is no CUDA device here\n");
    return 77;  // which ctest takes for a skipped test
  }

  const unsigned n = static_cast<unsigned>(count);
  const unsigned threads = 256, blocks = (n + threads - 1) / threads;
  particle* particles = nullptr;
  require(cudaMalloc(&particles, n * sizeof(particle)));
  scatter<<<blocks, threads>>>(particles, n);
  require(cudaGetLastError());
  const std::vector<particle> start = to_host(particles, n);
  const double energy_before = total_energy(particles, n);

  cudaEvent_t begin, end;
  require(cudaEventCreate(&begin));
  require(cudaEventCreate(&end));
  require(cudaEventRecord(begin));
  for (long i = 0; i < steps; ++i) move<<<blocks, threads>>>(particles, n);
  require(cudaGetLastError());
  require(cudaEventRecord(end));
  require(cudaEventSynchronize(end));
  float milliseconds = 0;
  require(cudaEventElapsedTime(&milliseconds, begin, end));

  const double energy_after = total_energy(particles, n);
  const std::vector<particle> moved = to_host(particles, n);
  require(cudaFree(particles));

  const double time = static_cast<double>(steps) * time_step;
  const double allowed = 1e-6 * static_cast<double>(steps);  // rounding to float in each step
  double largest = 0;
  bool right = std::fabs(energy_after / energy_before - 1) < 1e-4;
  for (unsigned i = 0; i < n; ++i) {
    const double error = difference(moved[i], exact(start[i], time));
    largest = std::fmax(largest, error);
    right = right && error <= allowed;
  }

  std::printf("%u particles, %ld steps of %g s\n", n, steps, time_step);
  std::printf("kinetic energy   %.6f J before, %.6f J after\n", energy_before, energy_after);
  std::printf("largest error    %.2e (allowed: %.2e)\n", largest, allowed);
  std::printf("particles/s      %.3e (%.3f ms for all steps)\n", 1e3 * n * static_cast<double>(steps) / milliseconds,
              milliseconds);
  if (!right) {
    std::fprintf(stderr, "particles_cuda: the particles are not where they should be\n");
    return 1;
  }
}
