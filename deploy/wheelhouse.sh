#!/usr/bin/env bash
# Build a wheelhouse: all that a computer without network needs to become a table, or a console.
# Run it on a computer with network, in the environment of a checkout (pip install -e .).
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

usage() {
    cat <<'END'
Build a wheelhouse for dealing tables and consoles.

    deploy/wheelhouse.sh --out house --version 0.1.0 --serial 7 --key ~/keys/release.key_secret

  --out DIR        a new folder
  --version V      of the release, such as 0.1.0; that of pyproject.toml
  --serial N       of the release; higher than any before
  --released DATE  its UTC date [default: today]
  --key FILE       sign it with this secret key; without one it is for benches
  --arch ARCH      aarch64 or x86_64; may be said more than once [default: aarch64]
  --python VER     311 or 313; may be said more than once [default: both]
  --no-console     only what tables need
  --help

PYTHON is the interpreter to use [default: python3]. It has to be 3.11: what a package needs on a
newer Python only, an older one tells, but not the other way round.
END
}

die() {
    echo "$0: $*" >&2
    exit 2
}

out='' version='' serial='' released=$(date -u +%F) key='' console=true
archs=() pythons=()
while [ $# -gt 0 ]; do
    case $1 in
        --out | --version | --serial | --released | --key | --arch | --python)
            [ $# -ge 2 ] || die "$1: what?"
            case $1 in
                --arch) archs+=("$2") ;;
                --python) pythons+=("$2") ;;
                *) printf -v "${1#--}" %s "$2" ;;
            esac
            shift ;;
        --no-console) console=false ;;
        --help | -h) usage; exit ;;
        *) die "$1: unknown; --help tells what there is" ;;
    esac
    shift
done
for asked in "$out" "$version" "$serial"; do
    [ -n "$asked" ] || die "--out, --version and --serial are needed"
done
[ ! -e "$out" ] || die "$out: is there already"
[ -z "$key" ] || [ -f "$key" ] || die "$key: is not there; dealtable release key makes it"
[ ${#archs[@]} -gt 0 ] || archs=(aarch64)
[ ${#pythons[@]} -gt 0 ] || pythons=(311 313)
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || die "$python: has to be Python 3.11"
dealtable() { (cd "$root" && "$python" -m controller.cli "$@"); }
mkdir -p "$out/wheels"
out=$(cd "$out" && pwd)
[ -z "$key" ] || key=$(realpath "$key")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sign() { # manifest
    [ -z "$key" ] || dealtable release sign "$1" --key "$key"
}

# The program, with its own manifest inside: what a table reports, and compares before it upgrades.
mkdir "$work/program"
cp "$root"/{pyproject.toml,README.md,LICENSE} "$work/program"
cp -r "$root"/{controller,drivers} "$work/program"
find "$work/program" -name __pycache__ -prune -exec rm -rf {} +
rm -f "$work"/program/controller/manifest.json*
of=(--version "$version" --serial "$serial" --released "$released")
dealtable release make "$work/program" "${of[@]}"
sign "$work/program/controller/manifest.json"
"$python" -m pip wheel -q --no-deps -w "$out/wheels" "$work/program"
wheel=$(echo "$out"/wheels/dealtable-*.whl)
[[ $wheel == */dealtable-"$version"-* ]] || die "pyproject.toml says ${wheel##*/}, not version $version"

needed() { # Python, whether for a console: requirements beside those that every table has
    "$python" - "$root/pyproject.toml" "$1" "$2" <<'END'
import sys, tomllib
extras = tomllib.load(open(sys.argv[1], "rb"))["project"]["optional-dependencies"]
for line in extras["pi"] + (extras["console"] if sys.argv[3] == "true" else []):
    requirement, _, marker = line.partition(";")
    # The one marker there is: what has no wheel for a newer Python (lgpio).
    assert marker.strip() in ("", "python_version < '3.13'"), marker
    if not marker or int(sys.argv[2]) < 313:
        print(requirement.strip())
END
}

# What it stands on. A bare manylinux2014 finds neither lgpio (2_34) nor pyzmq (2_26, 2_28);
# Debian 12 has glibc 2.36.
for arch in "${archs[@]}"; do
    platforms=(--platform "manylinux2014_$arch")
    for minor in $(seq 17 36); do platforms+=(--platform "manylinux_2_${minor}_$arch"); done
    for abi in "${pythons[@]}"; do
        mapfile -t more < <(needed "$abi" "$console")
        "$python" -m pip --disable-pip-version-check download -q -d "$out/wheels" --only-binary=:all: \
            --implementation cp --python-version "$abi" "${platforms[@]}" "$wheel" "${more[@]}"
    done
done
# Its own installer: a blank computer may have no pip.
"$python" -m pip --disable-pip-version-check download -q -d "$out/wheels" --only-binary=:all: --no-deps pip

cp "$root"/deploy/{install.sh,upgrade.sh,uninstall.sh,lib.sh,verify_wheelhouse.py} "$out"
cp -r "$root"/deploy/{units,computer} "$out"
cp "$root"/deploy/*.{md,toml,svg} "$out"
dealtable release make "$out" --whole "${of[@]}"
sign "$out/manifest.json"
echo "$out: $(find "$out/wheels" -name '*.whl' | wc -l) wheels, $(du -sh "$out" | cut -f 1)"
[ -n "$key" ] || echo "it is not signed: tables take it with --unsigned alone" >&2
