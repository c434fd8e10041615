# Completions of nnapi-convert for bash. Made by scripts/make_completions.py, do not edit.
_nnapi_convert() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words= values=
  # bash splits at =, which stands between an option and its value.
  if [[ $word == = ]]; then word=; elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi
  case ${COMP_WORDS[1]} in
    batch) words='-o --output -j --jobs --memory --timeout -k --keep-going --resume --extension --baseline --limit -q --quiet -v --verbose -h --help --help-all --input --nhwc --nchw --quant --preference --relax-fp16 --bundle-inputs --runtime --fallback --min-segment-macs --max-segments --rows-per-call --control-flow --strip --embed-shim-source --feature-level --min-api --device-profile --torch-library --disable-pass --emit-cpu --verify' ;;
    check) words='--input --nhwc --quant --runtime --min-api --device-profile --explain-speed --format -q --quiet -v --verbose -h --help --help-all --nchw --preference --relax-fp16 --bundle-inputs --strip --embed-shim-source --fallback --min-segment-macs --max-segments --rows-per-call --control-flow --feature-level --torch-library --disable-pass' ;;
    verify) words='--input --inputs --reference --samples --tolerance --per-op --format -q --quiet -v --verbose -h --help --help-all --seed --torch-library' ;;
    inspect) words='--format -q --quiet -v --verbose -h --help' ;;
    ops) words='--format -h --help' ;;
    shim) words='--emit --from --force -q --quiet -v --verbose -h --help' ;;
    *) words='--version -o --output --input --nhwc --quant --runtime --min-api --device-profile --verify --report -q --quiet -v --verbose -h --help --help-all --nchw --preference --relax-fp16 --bundle-inputs --strip --embed-shim-source --emit-cpu --fallback --min-segment-macs --max-segments --rows-per-call --control-flow --feature-level --torch-library --disable-pass --dump-after' ;;
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
    check:--runtime) values='pytorch shim' ;;
    check:--format) values='text json' ;;
    check:--preference) values='fast-single-answer low-power sustained-speed' ;;
    check:--fallback) values='cpu cpu-plain none partition' ;;
    check:--control-flow) values='nnapi refuse' ;;
    check:--disable-pass) values='drop_tile reduce_rank sink_moves split_untransposed merge_moves fold_padding fold_affine fuse_activation shuffle_channels' ;;
    verify:--format) values='text json' ;;
    inspect:--format) values='text json dot html' ;;
    ops:--format) values='text json markdown' ;;
    *:--quant) values='auto core full nnapi none' ;;
    *:--runtime) values='pytorch shim' ;;
    *:--preference) values='fast-single-answer low-power sustained-speed' ;;
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
