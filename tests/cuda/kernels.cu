// Pairs of kernels, compared by compare_kernels.py: what a person would write, member by member, and the same through
// the tree operations. A pair is named by_hand_CASE and espalier_CASE.
#include <espalier/map.hpp>
#include <espalier/reduce.hpp>
#include <espalier/visit.hpp>
#include <espalier/visit_update.hpp>

namespace {

struct vec3 {
  float x, y, z;
};
struct particle {
  vec3 position, velocity;
  float charge, mass;
};

__device__ int thread_index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

}  // namespace

// --- Visit: in place, with the same place of a second struct beside it. ----------------------------------------------

extern "C" __global__ void by_hand_visit(particle* p, const particle* slope, float dt, int n) {
  const int i = thread_index();
  if (i >= n) return;
  p[i].position.x += dt * slope[i].position.x;
  p[i].position.y += dt * slope[i].position.y;
  p[i].position.z += dt * slope[i].position.z;
  p[i].velocity.x += dt * slope[i].velocity.x;
  p[i].velocity.y += dt * slope[i].velocity.y;
  p[i].velocity.z += dt * slope[i].velocity.z;
  p[i].charge += dt * slope[i].charge;
  p[i].mass += dt * slope[i].mass;
}

extern "C" __global__ void espalier_visit(particle* p, const particle* slope, float dt, int n) {
  const int i = thread_index();
  if (i >= n) return;
  espalier::tree_visit([dt](float& x, float dx) { x += dt * dx; }, p[i], slope[i]);
}

// --- Map: a new struct from two. -------------------------------------------------------------------------------------

extern "C" __global__ void by_hand_map(particle* next, const particle* p, const particle* slope, float dt, int n) {
  const int i = thread_index();
  if (i >= n) return;
  next[i] = particle{
      {p[i].position.x + dt * slope[i].position.x, p[i].position.y + dt * slope[i].position.y,
       p[i].position.z + dt * slope[i].position.z},
      {p[i].velocity.x + dt * slope[i].velocity.x, p[i].velocity.y + dt * slope[i].velocity.y,
       p[i].velocity.z + dt * slope[i].velocity.z},
      p[i].charge + dt * slope[i].charge,
      p[i].mass + dt * slope[i].mass,
  };
}

extern "C" __global__ void espalier_map(particle* next, const particle* p, const particle* slope, float dt, int n) {
  const int i = thread_index();
  if (i >= n) return;
  next[i] = espalier::tree_map([dt](float x, float dx) { return x + dt * dx; }, p[i], slope[i]);
}

// --- Update: a map in place. -----------------------------------------------------------------------------------------

extern "C" __global__ void by_hand_update(particle* p, const particle* slope, float dt, int n) {
  const int i = thread_index();
  if (i >= n) return;
  p[i].position.x = p[i].position.x + dt * slope[i].position.x;
  p[i].position.y = p[i].position.y + dt * slope[i].position.y;
  p[i].position.z = p[i].position.z + dt * slope[i].position.z;
  p[i].velocity.x = p[i].velocity.x + dt * slope[i].velocity.x;
  p[i].velocity.y = p[i].velocity.y + dt * slope[i].velocity.y;
  p[i].velocity.z = p[i].velocity.z + dt * slope[i].velocity.z;
  p[i].charge = p[i].charge + dt * slope[i].charge;
  p[i].mass = p[i].mass + dt * slope[i].mass;
}

extern "C" __global__ void espalier_update(particle* p, const particle* slope, float dt, int n) {
  const int i = thread_index();
  if (i >= n) return;
  espalier::tree_visit_update([dt](float x, float dx) { return x + dt * dx; }, p[i], slope[i]);
}

// --- Reduce: one number from a struct. -------------------------------------------------------------------------------

extern "C" __global__ void by_hand_reduce(float* sum, const particle* p, int n) {
  const int i = thread_index();
  if (i >= n) return;
  float s = 0;
  s += p[i].position.x * p[i].position.x;
  s += p[i].position.y * p[i].position.y;
  s += p[i].position.z * p[i].position.z;
  s += p[i].velocity.x * p[i].velocity.x;
  s += p[i].velocity.y * p[i].velocity.y;
  s += p[i].velocity.z * p[i].velocity.z;
  s += p[i].charge * p[i].charge;
  s += p[i].mass * p[i].mass;
  sum[i] = s;
}

extern "C" __global__ void espalier_reduce(float* sum, const particle* p, int n) {
  const int i = thread_index();
  if (i >= n) return;
  sum[i] = espalier::tree_reduce([](float s, float x) { return s + x * x; }, p[i], 0.0f);
}

// --- A step of the Runge-Kutta method: several of these, with other work in between. ---------------------------------

namespace {

__device__ particle derivative(const particle& p) {
  const float turn = p.charge / p.mass;
  return {p.velocity, {turn * p.velocity.y, -turn * p.velocity.x, 0}, 0, 0};
}

__device__ particle ahead_by_hand(const particle& p, float time, const particle& slope) {
  return {
      {p.position.x + time * slope.position.x, p.position.y + time * slope.position.y,
       p.position.z + time * slope.position.z},
      {p.velocity.x + time * slope.velocity.x, p.velocity.y + time * slope.velocity.y,
       p.velocity.z + time * slope.velocity.z},
      p.charge + time * slope.charge,
      p.mass + time * slope.mass,
  };
}

}  // namespace

extern "C" __global__ void by_hand_step(particle* p, float dt, int n) {
  const int i = thread_index();
  if (i >= n) return;
  const particle k1 = derivative(p[i]);
  const particle k2 = derivative(ahead_by_hand(p[i], dt / 2, k1));
  const particle k3 = derivative(ahead_by_hand(p[i], dt / 2, k2));
  const particle k4 = derivative(ahead_by_hand(p[i], dt, k3));
  p[i].position.x += dt / 6 * (k1.position.x + 2 * k2.position.x + 2 * k3.position.x + k4.position.x);
  p[i].position.y += dt / 6 * (k1.position.y + 2 * k2.position.y + 2 * k3.position.y + k4.position.y);
  p[i].position.z += dt / 6 * (k1.position.z + 2 * k2.position.z + 2 * k3.position.z + k4.position.z);
  p[i].velocity.x += dt / 6 * (k1.velocity.x + 2 * k2.velocity.x + 2 * k3.velocity.x + k4.velocity.x);
  p[i].velocity.y += dt / 6 * (k1.velocity.y + 2 * k2.velocity.y + 2 * k3.velocity.y + k4.velocity.y);
  p[i].velocity.z += dt / 6 * (k1.velocity.z + 2 * k2.velocity.z + 2 * k3.velocity.z + k4.velocity.z);
  p[i].charge += dt / 6 * (k1.charge + 2 * k2.charge + 2 * k3.charge + k4.charge);
  p[i].mass += dt / 6 * (k1.mass + 2 * k2.mass + 2 * k3.mass + k4.mass);
}

extern "C" __global__ void espalier_step(particle* p, float dt, int n) {
  const int i = thread_index();
  if (i >= n) return;
  const auto ahead = [&state = p[i]](float time, const particle& slope) {
    return espalier::tree_map([time](float x, float dx) { return x + time * dx; }, state, slope);
  };
  const particle k1 = derivative(p[i]);
  const particle k2 = derivative(ahead(dt / 2, k1));
  const particle k3 = derivative(ahead(dt / 2, k2));
  const particle k4 = derivative(ahead(dt, k3));
  espalier::tree_visit([dt](float& x, float a, float b, float c, float d) { x += dt / 6 * (a + 2 * b + 2 * c + d); },
                       p[i], k1, k2, k3, k4);
}
