#!/usr/bin/env bash
# Machines that are network namespaces of Linux, each with an address and a node
# of Ray of its own. Node 0 is the head, which has no CPUs for hosts, and the one
# where learners belong: as processes see those of all nodes, Ray takes the head
# for what is here. A bridge in a namespace of its own joins them. It needs root.
#
#   cluster.sh up [NODES]          starts 3 nodes, or as many as told
#   cluster.sh in NODE COMMAND...  runs a command on a node, with the token
#   cluster.sh cut NODE            pulls the cable out of a node
#   cluster.sh join NODE           plugs it in again
#   cluster.sh down                ends all of it, whatever state it is in
#
# Variables:
#   RAY               path of the program `ray` (default: the one of PATH)
#   NODE_PATH_PREFIX  folder of programs that the nodes find first, such as deno
#   CLUSTER_NAME      beginning of the names of namespaces, for several clusters
#                     side by side (default: bellman-ray)
#   HEAD_CPUS, NODE_CPUS  CPUs that Ray gives away there (default: 0 and 8)
#   RAY_AUTH_MODE, RAY_AUTH_TOKEN  as Ray has them (default: a token)
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin
RAY=${RAY:-ray}
NAME=${CLUSTER_NAME:-bellman-ray}-
NETWORK=10.77.0
FOLDER=/tmp/${NAME}files
HEAD=$NETWORK.1:6379
export RAY_USAGE_STATS_ENABLED=0 RAY_AUTH_MODE=${RAY_AUTH_MODE:-token}
export RAY_AUTH_TOKEN=${RAY_AUTH_TOKEN:-bellman-test-token-0123456789abcdef}
[ "$RAY_AUTH_MODE" = token ] || unset RAY_AUTH_TOKEN

fail() {
  echo "$1" >&2
  exit 1
}

# Runs a command on a node, which has a folder for Ray's files of its own under
# the name that all have: 2.52 takes its address from what it finds there.
on() {
  mkdir -p "$FOLDER/$1" "$FOLDER/ray"
  ip netns exec "$NAME$1" env PATH="${NODE_PATH_PREFIX:+$NODE_PATH_PREFIX:}$PATH" \
    bash -c 'mount --bind "$1" "$2" && exec "${@:3}"' - "$FOLDER/$1" "$FOLDER/ray" "${@:2}"
}

# A node's namespace and its cable: `eth0` there, `vNODE` at the bridge.
add_machine() {
  ip netns add "$NAME$1"
  ip -n "${NAME}switch" link add "v$1" type veth peer name eth0 netns "$NAME$1"
  ip -n "${NAME}switch" link set "v$1" master bridge up
  ip -n "$NAME$1" link set lo up
  ip -n "$NAME$1" addr add "$NETWORK.$(($1 + 1))/24" dev eth0
  ip -n "$NAME$1" link set eth0 up
  # Ray finds its own address by the route to one of the Internet.
  ip -n "$NAME$1" route add default dev eth0
}

start_node() {
  local options=(--disable-usage-stats --object-store-memory $((128 << 20))
    --include-log-monitor False --temp-dir "$FOLDER/ray" --node-ip-address "$NETWORK.$(($1 + 1))")
  if [ "$1" = 0 ]; then
    options+=(--head --port "${HEAD#*:}" --num-cpus "${HEAD_CPUS:-0}" --include-dashboard False)
  else
    options+=(--address "$HEAD" --num-cpus "${NODE_CPUS:-8}")
  fi
  on "$1" "$RAY" start "${options[@]}" >/dev/null 2>"$FOLDER/errors" || fail "$(<"$FOLDER/errors")"
}

up() {
  ip netns add "${NAME}switch" 2>/dev/null ||
    fail "Cannot make network namespaces: run this as root on Linux, with no cluster up (see 'down')."
  mkdir -p "$FOLDER"
  ip -n "${NAME}switch" link add bridge type bridge
  ip -n "${NAME}switch" link set bridge up
  for ((node = 0; node < $1; node++)); do add_machine "$node"; done
  for ((node = 0; node < $1; node++)); do start_node "$node"; done
}

down() {
  local name pid
  for name in $(ip netns list | grep -oE "^$NAME([0-9]+|switch)\b" || true); do
    # What is stopped does not end before it goes on.
    for pid in $(ip netns pids "$name"); do
      kill -CONT "$pid" 2>/dev/null || true
      kill -KILL "$pid" 2>/dev/null || true
    done
    ip netns del "$name"
  done
  rm -rf "$FOLDER"
}

case ${1:-} in
up)
  trap down ERR
  up "${2:-3}"
  ;;
down) down ;;
in) on "${@:2}" ;;
cut) ip -n "${NAME}switch" link set "v$2" down ;;
join) ip -n "${NAME}switch" link set "v$2" up ;;
*) fail "Usage: cluster.sh up [NODES] | down | in NODE COMMAND... | cut NODE | join NODE" ;;
esac
