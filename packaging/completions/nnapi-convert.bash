# Completions of nnapi-convert for bash. Made by scripts/make_completions.py, do not edit.
_nnapi_convert() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words= values=
  # bash splits at =, which stands between an option and its value.
  if [[ $word == = ]]; then word=; elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi
  case ${COMP_WORDS[1]} in
    batch) words='-h --help -o --output -j --jobs --memory --timeout -k --keep-going --resume --extension --baseline --limit -q --quiet -v --verbose --input --nhwc --nchw --quant --preference --relax-fp16 --bundle-inputs --emit-cpu --runtime --fallback --min-segment-macs --max-segments --rows-per-call --control-flow --strip --embed-shim-source --feature-level --min-api --device-profile --torch-library --disable-pass --verify' ;;
    check) words='-h --help --input --nhwc --nchw --quant --preference --relax-fp16 --bundle-inputs --emit-cpu --runtime --fallback --min-segment-macs --max-segments --rows-per-call --control-flow --strip --embed-shim-source --feature-level --min-api --device-profile --torch-library --disable-pass --explain-speed --format -q --quiet -v --verbose' ;;
    verify) words='-h --help --input --inputs --reference --samples --seed --tolerance --per-op --torch-library --format -q --quiet -v --verbose' ;;
    inspect) words='-h --help --format -q --quiet -v --verbose' ;;
    ops) words='-h --help --format' ;;
    shim) words='-h --help --emit --from --force -q --quiet -v --verbose' ;;
    *) words='-h --help --version -o --output --input --nhwc --nchw --quant --preference --relax-fp16 --bundle-inputs --emit-cpu --runtime --fallback --min-segment-macs --max-segments --rows-per-call --control-flow --strip --embed-shim-source --feature-level --min-api --device-profile --torch-library --disable-pass --verify --report --dump-after -q --quiet -v --verbose' ;;
  esac
  ((COMP_CWORD == 1)) && words+=' batch check verify inspect ops shim'
  case ${COMP_WORDS[1]}:$before in
    batch:--extension) values='pt ptl' ;;
    batch:--quant) values='auto core full nnapi none' ;;
    batch:--preference) values='fast-single-answer low-power sustained-speed' ;;
    batch:--runtime) values='pytorch shim' ;;
    batch:--fallback) values='cpu cpu-plain none partition' ;;
    batch:--control-flow) values='nnapi refuse' ;;
    batch:--disable-pass) values='drop_tile reduce_rank sink_moves split_untransposed merge_moves fold_padding fold_affine fuse_activation shuffle_channels' ;;
    check:--quant) values='auto core full nnapi none' ;;
    check:--preference) values='fast-single-answer low-power sustained-speed' ;;
    check:--runtime) values='pytorch shim' ;;
    check:--fallback) values='cpu cpu-plain none partition' ;;
    check:--control-flow) values='nnapi refuse' ;;
    check:--disable-pass) values='drop_tile reduce_rank sink_moves split_untransposed merge_moves fold_padding fold_affine fuse_activation shuffle_channels' ;;
    check:--format) values='text json' ;;
    verify:--format) values='text json' ;;
    inspect:--format) values='text json dot html' ;;
    ops:--format) values='text json markdown' ;;
    *:--quant) values='auto core full nnapi none' ;;
    *:--preference) values='fast-single-answer low-power sustained-speed' ;;
    *:--runtime) values='pytorch shim' ;;
    *:--fallback) values='cpu cpu-plain none partition' ;;
    *:--control-flow) values='nnapi refuse' ;;
    *:--disable-pass) values='drop_tile reduce_rank sink_moves split_untransposed merge_moves fold_padding fold_affine fuse_activation shuffle_channels' ;;
  esac
  if [[ -n $values ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
    if ((COMP_CWORD == 1)); then
      mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W 'batch check verify inspect ops shim' -- "$word")
    fi
  fi
}
complete -o filenames -F _nnapi_convert nnapi-convert
