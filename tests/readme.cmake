# The README's first program is examples/first_program.cpp, word for word.
file(READ "${SOURCE_DIR}/examples/first_program.cpp" program)
file(READ "${SOURCE_DIR}/README.md" readme)
string(FIND "${program}" "struct line {" begin)
string(SUBSTRING "${program}" ${begin} -1 program)
string(FIND "${readme}" "${program}" found)
if(begin EQUAL -1 OR found EQUAL -1)
  message(FATAL_ERROR "README.md does not hold examples/first_program.cpp from `struct line` on, word for word")
endif()
