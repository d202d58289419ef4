#!/bin/sh
# Makes the authority of a fleet of three servers, a certificate for each, and one for
# its operator. Copy each folder's files to /var/lib/berth/server of its server
# (owner berth, mode 0600), and keep ca/ca-key.pem safe.
set -eu
umask 077
berth ca init --dir ca
for s in s1 s2 s3; do
  mkdir -p "$s"
  berth ca issue server "$s" --dir ca --host "$s.example.net" --out "$s/server.pem"
  cp ca/ca.pem ca/ca-key.pem "$s/"
done
berth ca issue operator admin --dir ca --out admin.pem
