# train_digits on two processes goes the way of one that has the joined batches: the same losses and accuracies, up to the
# rounding of the last digit that is printed; only rank 0 prints and writes; ranks that cannot start end with an error.
#
#   cmake -DPROGRAM=… -DDIGITS=… -DFOLDER=… [-DLAUNCH=path/to/mlx.launch] -P distributed_train.cmake
cmake_minimum_required(VERSION 3.25)

# 1,600 digits, of which 1,280 are for training: 20 whole batches an epoch, nothing left out.
file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}/one" "${FOLDER}/two")
file(STRINGS "${DIGITS}" lines LIMIT_COUNT 1600)
list(JOIN lines "\n" lines)
file(WRITE "${FOLDER}/digits.csv" "${lines}\n")
set(arguments --data "${FOLDER}/digits.csv" --hidden 16 --batch-size 64)

# Runs ranks 0 and 1 with the arguments given; sets out, errors and failed in the caller.
macro(run_two)
  foreach(attempt RANGE 2) # a port may be taken
    try_two(${ARGN})
    if(NOT failed OR NOT errors MATCHES "\\[ring\\]")
      break()
    endif()
  endforeach()
endmacro()
function(try_two)
  string(RANDOM LENGTH 4 ALPHABET 0123456789 digits)
  math(EXPR port "10000 + 1${digits} % 10000 * 2")
  math(EXPR next "${port} + 1")
  set(failed FALSE)
  if(LAUNCH)
    execute_process(
      COMMAND "${LAUNCH}" -n 2 --backend ring --starting-port ${port} -- "${PROGRAM}" ${ARGN}
      WORKING_DIRECTORY "${FOLDER}/two"
      TIMEOUT 120
      OUTPUT_VARIABLE out
      ERROR_VARIABLE errors)
    string(APPEND errors "${out}")
    if(errors MATCHES "exited with code") # mlx.launch itself ends with 0
      set(failed TRUE)
    endif()
  else()
    file(WRITE "${FOLDER}/hosts.json" "[[\"127.0.0.1:${port}\"], [\"127.0.0.1:${next}\"]]")
    set(with "${CMAKE_COMMAND}" -E env "MLX_HOSTFILE=${FOLDER}/hosts.json")
    # (Both at once. What rank 1 prints would be lost, so it goes to a file.)
    execute_process(
      COMMAND ${with} MLX_RANK=1 sh -c "exec \"$@\" >rank_1.txt" sh "${PROGRAM}" ${ARGN}
      COMMAND ${with} MLX_RANK=0 "${PROGRAM}" ${ARGN}
      WORKING_DIRECTORY "${FOLDER}/two"
      TIMEOUT 120
      OUTPUT_VARIABLE out
      ERROR_VARIABLE errors
      RESULTS_VARIABLE ends)
    if(NOT ends STREQUAL "0;0")
      set(failed TRUE)
    endif()
    file(READ "${FOLDER}/two/rank_1.txt" rank_1)
    if(rank_1)
      message(SEND_ERROR "rank 1 printed:\n${rank_1}")
    endif()
  endif()
  foreach(variable IN ITEMS out errors failed)
    set(${variable} "${${variable}}" PARENT_SCOPE)
  endforeach()
endfunction()

# What is printed of the epochs, as one list: of each the loss in 1/10000, then the accuracy in percent.
function(epochs_of text into)
  string(REGEX MATCHALL "loss [0-9.]+   test accuracy +[0-9.]+" found "${text}")
  list(TRANSFORM found REPLACE "loss ([0-9]+)\\.([0-9]+)   test accuracy +" "\\1\\2;")
  set(${into} "${found}" PARENT_SCOPE)
endfunction()

execute_process(
  COMMAND "${PROGRAM}" ${arguments} --epochs 3
  WORKING_DIRECTORY "${FOLDER}/one"
  OUTPUT_VARIABLE alone COMMAND_ERROR_IS_FATAL ANY)
run_two(${arguments} --epochs 2)
if(failed)
  message(FATAL_ERROR "two processes failed:\n${out}\n${errors}")
endif()
set(together "${out}")
run_two(${arguments} --epochs 1 --resume)
if(failed)
  message(FATAL_ERROR "two processes could not resume:\n${out}\n${errors}")
endif()
string(APPEND together "${out}")

epochs_of("${alone}" expected)
epochs_of("${together}" found)
list(LENGTH expected n)
list(LENGTH found m)
if(NOT n EQUAL 6 OR NOT m EQUAL 6)
  message(FATAL_ERROR "expected three epochs, each printed once:\n${alone}\n${together}")
endif()
foreach(i IN ITEMS 0 2 4)
  math(EXPR j "${i} + 1")
  list(GET expected ${i} loss)
  list(GET found ${i} other_loss)
  math(EXPR difference "${loss} - ${other_loss}")
  list(GET expected ${j} accuracy)
  list(GET found ${j} other_accuracy)
  if(difference GREATER 1 OR difference LESS -1 OR NOT accuracy STREQUAL other_accuracy)
    message(SEND_ERROR "one process and two differ:\n${alone}\n${together}")
  endif()
endforeach()
foreach(file IN ITEMS train_digits.safetensors train_digits.svg)
  if(NOT EXISTS "${FOLDER}/two/${file}")
    message(SEND_ERROR "rank 0 did not write ${file}")
  endif()
endforeach()

run_two(${arguments} --batch-size 63)
if(NOT failed OR NOT errors MATCHES "expected a multiple of the number of processes, 2, found 63")
  message(SEND_ERROR "a batch that cannot be shared was not refused:\n${out}\n${errors}")
endif()
