# The module exports every name that the headers declare for users. clang's code completion tells both: what may stand
# behind `espalier::` in a unit that includes, and in a unit that imports.
#
#   cmake -DCOMPILER=clang++ -DFLAGS=flags.rsp -DPCM=espalier.pcm -DSCRATCH=folder -P check_names.cmake

# names(RESULT NAMESPACE UNIT FIRST_LINE FLAGS...)
function(names result namespace unit first_line)
  file(WRITE "${SCRATCH}/${unit}.cpp" "${first_line}\nint main() {\n${namespace}::\n")  # completed in line 3
  string(LENGTH "${namespace}::1" column)
  execute_process(
    COMMAND "${COMPILER}" "@${FLAGS}" ${ARGN} -w -fsyntax-only -Xclang -code-completion-at=${unit}.cpp:3:${column} ${unit}.cpp
    WORKING_DIRECTORY "${SCRATCH}" OUTPUT_VARIABLE output ERROR_VARIABLE errors) # the file ends too early: status 1
  string(REGEX MATCHALL "COMPLETION: [A-Za-z_0-9\"]+" found "${output}")
  list(TRANSFORM found REPLACE "COMPLETION: " "")
  list(REMOVE_DUPLICATES found)
  list(REMOVE_ITEM found detail)
  if(NOT found)
    message(FATAL_ERROR "${namespace} has no names in ${SCRATCH}/${unit}.cpp:\n${errors}")
  endif()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

file(MAKE_DIRECTORY "${SCRATCH}")
file(WRITE "${SCRATCH}/all.hpp" "#include <espalier/any_treedef.hpp>\n#include <espalier/compile.hpp>\n#include <espalier/espalier.hpp>\n")
foreach(namespace IN ITEMS espalier espalier::optim espalier::reflect)
  names(missing ${namespace} including "#include \"all.hpp\"")
  names(exported ${namespace} importing "import espalier;" "-fmodule-file=espalier=${PCM}")
  list(REMOVE_ITEM missing ${exported})
  if(missing)
    list(JOIN missing ", " missing)
    message(SEND_ERROR "modules/espalier.cppm does not export, of ${namespace}: ${missing}")
  endif()
endforeach()
