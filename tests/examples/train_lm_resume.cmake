# A run in two parts ends with the checkpoint of a run without a break, byte for byte.
#   cmake -DPROGRAM=… -DSCRATCH=… -P train_lm_resume.cmake
file(REMOVE_RECURSE "${SCRATCH}")
file(MAKE_DIRECTORY "${SCRATCH}")

function(train name)
  execute_process(
    COMMAND "${PROGRAM}" --steps 8 --warmup 2 --evaluate-every 2 --batch-size 2 --accumulate 2 --context 8 --width 8
            --heads 1 --blocks 1 --sample 12 --checkpoint ${name}.safetensors --curve ${name}.svg --metrics ${name}.csv
            --tensorboard ${name} ${ARGN}
    WORKING_DIRECTORY "${SCRATCH}"
    OUTPUT_VARIABLE said
    ERROR_VARIABLE complaint
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "train_lm ${ARGN}: ${failed}\n${said}\n${complaint}")
  endif()
  set(said "${said}" PARENT_SCOPE)
endfunction()

train(whole)
train(parts --stop-at 4)
if(NOT said MATCHES "step 4: loss")
  message(FATAL_ERROR "the first part did not stop at step 4:\n${said}")
endif()
file(SHA256 "${SCRATCH}/whole.safetensors" whole)
file(SHA256 "${SCRATCH}/parts.safetensors" half)
if(half STREQUAL whole)
  message(FATAL_ERROR "half a run has the checkpoint of the whole: this test shows nothing")
endif()
train(parts --resume)
if(NOT said MATCHES "resumed after step 4")
  message(FATAL_ERROR "the second part did not resume:\n${said}")
endif()
file(SHA256 "${SCRATCH}/parts.safetensors" parts)
if(NOT parts STREQUAL whole)
  message(FATAL_ERROR "the resumed run's checkpoint differs from that of the run without a break")
endif()

# So do the metrics, and a resumed run with other settings is refused.
file(READ "${SCRATCH}/whole.csv" whole)
file(READ "${SCRATCH}/parts.csv" parts)
if(NOT parts STREQUAL whole)
  message(FATAL_ERROR "the metrics differ:\n${whole}\n${parts}")
endif()
execute_process(
  COMMAND "${PROGRAM}" --resume --steps 9 --warmup 2 --width 8 --heads 1 --blocks 1 --batch-size 2 --accumulate 2 --context 8
          --checkpoint parts.safetensors --metrics other.csv
  WORKING_DIRECTORY "${SCRATCH}"
  OUTPUT_QUIET
  ERROR_VARIABLE complaint
  RESULT_VARIABLE failed)
if(NOT failed OR NOT complaint MATCHES "other settings.*\\.steps: expected 8, found 9")
  message(FATAL_ERROR "another --steps was not refused: ${complaint}")
endif()
