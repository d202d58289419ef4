# What .ci/run and .ci/full consist of, one function a step, and how they are run. A step is a
# shell of its own with -e, in the root of the repository; what it prints is its log.

# each runs a command in every module of the workspace, up to one in which it fails. The list is a
# statement of its own, so that a step does not pass where it cannot be had.
each() {
  local dir dirs
  dirs=$(go list -m -f '{{.Dir}}') || return
  for dir in $dirs; do (cd "$dir" && "$@") || return; done
}

# data tells tests where the published results are that they compare with, where they are at hand.
# Without, these tests skip.
data() {
  if [ -z "${BERTH_DATA:-}" ] && [ -d ../shared/data ]; then
    BERTH_DATA=$(cd ../shared/data && pwd)
    export BERTH_DATA
  fi
  [ -n "${BERTH_DATA:-}" ] || echo 'left out: what compares with published results (BERTH_DATA is not set)'
}

# telling is go test, which says also of the tests that are skipped why: what a machine does not have.
telling() { go test -v "$@" | "$notable"; }
notable=$PWD/.ci/notable

# One way of building for all steps but the race detector, which needs C: what one step has
# compiled the next one need not.
export CGO_ENABLED=0

# What go test vets by itself is some of what lint does, and nested for its modules; it would do it
# again for each way of building. Nobody debugs what is built here: without debug information
# compiling takes a tenth less.
GOFLAGS="$(go env GOFLAGS) -vet=off -gcflags=all=-dwarf=false"
export GOFLAGS
unset GOWORK BERTH_README # the caller's: the steps are about the workspace

# for_race prepares the race detector. It needs a C compiler, and as much room in the build cache
# again; what other steps have put there goes where there is no room for both. What somebody else writes
# there meanwhile may stay.
for_race() {
  local free
  .ci/tools/debian gcc:gcc
  [ -e /usr/include/stdlib.h ] || .ci/tools/debian libc6-dev:none # no program of it is missing, but its headers
  export CGO_ENABLED=1
  mkdir -p "$(go env GOCACHE)"
  free=$(df --output=avail -BG "$(go env GOCACHE)" | tail -1 | tr -dc 0-9)
  [ "$free" -ge 12 ] || { echo "$free GB are free: the build cache is emptied"; go clean -cache || true; }
}

# The gate: needs Go, git and bash; no control plane, no browser, no published data.

step_tests() { go test work; } # as the README says

step_format() {
  local files
  files=$(gofmt -l .)
  [ -z "$files" ] || { sed 's/^/not formatted: /' <<<"$files"; return 1; }
}

# What go vet does is part of it: govet.
step_lint() {
  GOWORK=off go build -modfile=.ci/lint/go.mod -o "$logs/golangci-lint" github.com/golangci/golangci-lint/v2/cmd/golangci-lint
  each "$logs/golangci-lint" run ./...
}

# The packages of the workspace that start goroutines. Those whose tests alone do are in race_all.
concurrent() {
  local dir dirs
  dirs=$(each go list -f '{{.Dir}}' ./...) || return
  for dir in $dirs; do
    if grep -qE --exclude='*_test.go' '^\s*go (func\(|[a-zA-Z.]+\()|\.Go\(' "$dir"/*.go; then echo "$dir"; fi
  done
}

# One command for all modules: tests that wait leave the processors to those that compute.
step_race() {
  local packages
  for_race
  packages=$(concurrent)
  [ -n "$packages" ]
  # shellcheck disable=SC2086 # one word each
  go test -race -short -timeout 20m $packages
  go test -race -count=5 -run Concurrent ./engine/internal/snapshot
}

step_readme() { .ci/readme README.md; }

# The proofs.

# Failures of each kind, made on purpose.
step_scripts() { .ci/selftest; }

# Other random choices, longer histories, and whole logs and all seeds of published results.
step_long() {
  data
  BERTH_SEED=random each go test -short -count=1 -timeout 30m ./... # not what was chosen before
  go test -timeout 60m ./engine ./engine/enginetest/simulate -long
  go test -timeout 60m ./examples/backfill/internal/simulation ./examples/gpupacking/internal/reference ./examples/gpupacking/internal/simulation -long
}

step_race_all() {
  for_race
  each go test -race -short -timeout 30m ./...
  (cd adapters/kubernetes/bridge && go test -race -short -timeout 30m ./...)
  # What has goroutines, again and again; the simulation has one.
  local packages
  packages=$(concurrent | grep -v /enginetest/simulate$)
  [ -n "$packages" ]
  # shellcheck disable=SC2086 # one word each
  go test -race -short -count=3 -timeout 60m $packages
}

# Frozen values are never changed.
step_invariants() {
  go vet -tags berth_invariants ./engine/...
  # Modules of their own: a pattern ends where another module begins.
  go test -short -tags berth_invariants ./engine/... ./adapters/... ./adapters/fleet/... ./adapters/kubernetes/...
}

step_fuzz() { .ci/fuzz 3s; }

# Others can get the modules; which exported names have changed since the last release.
step_modules() {
  .ci/modules
  .ci/api
}

step_benchmarks() { each go test -short -run '^$' -bench . -benchtime 1x ./...; }

# nested vets a module outside the workspace, and runs its tests and benchmarks. Linting these
# modules, which have Kubernetes in them, takes longer than their tests.
nested() {
  cd "$1"
  shift
  go vet ./...
  "$@"
}

every_test() {
  go test -timeout 30m ./... # not -short: this is where mistakes made on purpose must be noticed
  go test -short -run '^$' -bench . -benchtime 1x ./...
}

# Plugins of kube-scheduler in the engine.
step_bridge() { nested adapters/kubernetes/bridge every_test; }

# The real kube-scheduler beside ours.
step_parity() { nested adapters/kubernetes/parity parity_tests; }

parity_tests() {
  every_test
  patched vet ./internal/pluginlevel ./cmd/parity
  patched test -timeout 30m -run Patched ./internal/pluginlevel
}

# patched runs a command of go in which those plugins of scheduler-plugins are linked that want a patch.
patched() {
  local command=$1
  shift
  patches/overlay "$logs/upstream"
  go "$command" -overlay "$logs/upstream/overlay.json" -tags patched "$@"
}

# Other random cases with every run; a difference prints the seed.
step_parity_random() {
  cd adapters/kubernetes/parity
  local level
  for level in plugin groupplugin schedulerplugins decision storage devices group schedulerpluginsdecision queue; do
    go run ./cmd/parity -level "$level" -n 200 -seed "$RANDOM"
  done
  for level in patchedplugins patcheddecision; do
    patched run ./cmd/parity -level "$level" -n 200 -seed "$RANDOM"
  done
}

step_readme_parity() { BERTH_README=parity .ci/readme README.md; }

# A real API server: builds etcd and kube-apiserver the first time.
step_e2e_kubernetes() { nested adapters/kubernetes/e2e e2e_tests; }

e2e_tests() {
  local packages
  packages=$(go list ./... | grep -vE '/(placements|sidebyside)$')
  # -count=1: what is tested is built by the tests, and go does not know of it.
  # shellcheck disable=SC2086 # one word each
  go test -short -count=1 -p 1 -timeout 30m $packages # the step faults has the rest of the scenarios
  go test -count=1 -p 1 -timeout 40m ./placements ./sidebyside
}

# Real servers, agents and tasks. What a machine does not have (namespaces, a browser,
# a virtual machine) is left out, and said.
step_e2e_fleet() {
  .ci/tools/debian iproute2:ip chromium:chromium qemu-system-x86:qemu-system-x86_64 busybox-static:busybox systemd:systemctl
  BERTH_VM_KERNEL=$(.ci/tools/kernel) || echo 'without a virtual machine'
  export BERTH_VM_KERNEL
  nested adapters/fleet/e2e telling -short -count=1 -p 1 -timeout 20m ./cluster ./scenario ./readme ./page ./vm ./load
}

step_faults() {
  .ci/tools/debian iproute2:ip
  (cd adapters/fleet/e2e && telling -count=1 -timeout 20m ./fault -each 3)
  # What -short leaves out of the scenarios, and what is beside it.
  cd adapters/kubernetes/e2e
  go test -count=1 -timeout 40m -run 'TestScenarios/(faults|queue|replicas|restart)' ./scenario
}

# minutes is how long each step may take, so that one that hangs is named.
declare -A minutes=(
  [tests]=40 [format]=2 [lint]=15 [race]=45 [readme]=15 [scripts]=15
  [long]=120 [race_all]=90 [invariants]=30 [fuzz]=30 [benchmarks]=20 [modules]=30 [bridge]=45 [parity]=45
  [parity_random]=60 [readme_parity]=20 [e2e_kubernetes]=90 [e2e_fleet]=45 [faults]=60
)

# run_steps runs the named steps one after the other, also after one that failed. It ends with
# what go said of each package, what was left out, a table, and what failed.
run_steps() {
  local name begin lines failed=() table=
  logs=$(mktemp -d)
  export logs
  trap end_steps EXIT
  trap 'exit 130' INT TERM HUP
  for name in "$@"; do
    [ -n "${minutes[$name]:-}" ] || { echo "there is no step $name; there are: ${!minutes[*]}" >&2; return 2; }
  done
  for name in "$@"; do
    printf '\n== %s (%ds)\n' "$name" "$SECONDS"
    begin=$SECONDS
    (one_step "$name" 2>&1 | tee "$logs/$name") &
    if wait $!; then # not in the foreground, where a signal would have to wait for it
      table+=$(printf '%-16s %6ds  ok' "$name" "$((SECONDS - begin))")$'\n'
    else
      table+=$(printf '%-16s %6ds  failed' "$name" "$((SECONDS - begin))")$'\n'
      failed+=("$name")
    fi
  done
  printf '\n== packages\n'
  grep -hE '^(ok|FAIL)[[:space:]]' "$logs/tests" 2>/dev/null
  grep -hE -A1 '^ *--- SKIP|^left out: ' "${@/#/$logs/}" | grep -v '^--$'
  printf '\n== done (%ds)\n%s' "$SECONDS" "$table"
  for name in "${failed[@]}"; do
    lines=$((38 / ${#failed[@]} - 2)) # at most 40 in all, with two more of each and two at the end
    printf '\nfailed: %s; again by: .ci/full %s\n' "$name" "$name"
    .ci/failures "$logs/$name" "$((lines > 1 ? lines : 1))"
  done
  [ "${#failed[@]}" -lt 2 ] || printf '\nfailed: %s\n' "${failed[*]}"
  [ "${#failed[@]}" = 0 ]
}

# one_step runs the step in a group of processes of its own, and ends what of it is left: what does
# not heed the signal at the end of the time, and what the step has started and left behind.
one_step() {
  local rc=0 group
  timeout -k 30 "${minutes[$1]}m" bash -euo pipefail -c "source .ci/steps.bash; step_$1" </dev/null &
  group=$! # timeout makes one, of its own number
  echo "$group" >"$logs/group"
  wait "$group" || rc=$?
  end_group
  case $rc in
    124) echo "$1 did not end in ${minutes[$1]} minutes" ;;
    137) echo "failed: $1 was killed, for want of memory or 30 s after its ${minutes[$1]} minutes" ;;
  esac
  return $rc
}

end_group() {
  [ ! -e "$logs/group" ] || kill -KILL -- "-$(cat "$logs/group")" 2>/dev/null
  rm -f "$logs/group"
}

end_steps() {
  end_group
  rm -rf "$logs"
}
