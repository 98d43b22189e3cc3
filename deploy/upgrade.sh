#!/usr/bin/env bash
# Go to the release in this wheelhouse. It is installed beside the present one and tried; only then
# do the services change over, and where they do not serve, everything goes back by itself.
set -euo pipefail
house=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$house/lib.sh"

usage() {
    cat <<'END'
Upgrade this computer to the release in this wheelhouse.

    sudo ./upgrade.sh

  --key FILE        the public key of releases, where it is not /etc/dealtable/release.key
  --unsigned        ask for no signature: for a bench
  --self-test CMD   what has to succeed before the services change over. It is run as root, by sh;
                    DEALTABLE is the new program. [default: `dealtable doctor` for each table]
  --now             also while a deal is under way (its cards go on after the change)
  --dry-run         say what would be done
  --help

Exit 0: the new release serves, or did already; 1: it does not, and the one before serves again;
2: nothing was begun, and one line says why. A release with a lower serial is refused.
END
}

key='' self_test='' now=false
while [ $# -gt 0 ]; do
    case $1 in
        --key) [ $# -ge 2 ] || die "$1: which file?"; key=$2; shift ;;
        --self-test) [ $# -ge 2 ] || die "$1: which command?"; self_test=$2; shift ;;
        --unsigned) key=unsigned ;;
        --now) now=true ;;
        --dry-run) dry=true ;;
        --help | -h) usage; exit ;;
        *) die "$1: unknown; --help tells what there is" ;;
    esac
    shift
done
as_root
before=$(current)
[ -n "$before" ] || die "nothing is installed here: install.sh comes first"
[ -n "$key" ] || { [ -f "$ETC/release.key" ] && key=$ETC/release.key; } || true
fits_computer
verified "$house" "$key"
extras=$(cut -d ' ' -f 2 "$PREFIX/$before/complete")
if [ "$before" = "$name" ]; then
    [ "$(cat "$PREFIX/$before/complete")" = "$digest $extras" ] ||
        die "$name: another release of this version and serial is installed"
    echo "nothing to change: $name is installed already"
    exit
fi
newest=$(serial_in "$PREFIX/$before/house/manifest.json")
for file in "$VAR"/*/release.json; do
    [ -e "$file" ] || continue
    seen=$(serial_in "$file")
    [ "$seen" -le "$newest" ] || newest=$seen
done
[ "$serial" -gt "$newest" ] ||
    die "serial $serial is no newer than $newest, which ran here: a table never goes back to an older release"

if booted && ! $now; then
    for table in $(tables); do
        status=$(systemctl show -p StatusText --value "dealtable-machine@$table" || true)
        case $status in
            *": committed,"* | *": cut,"* | *": shuffling,"* | *": dealing,"* | *": held,"*)
                die "$status: a deal is under way; wait, or say --now" ;;
        esac
    done
fi

echo "from $before to $name"
install_version "$house" "$extras"
$dry && { echo "the new release would be tried, and the services change over (--dry-run)"; exit; }
export DEALTABLE=$PREFIX/$name/bin/dealtable

refuse() { # why: before the services changed over
    rm -rf "${PREFIX:?}/$name"
    echo "$name is not used: $*; $before goes on" >&2
    exit 1
}

# Is what was installed what was released; the manifest inside it names every file of the program.
if [ "$key" != unsigned ]; then
    "$DEALTABLE" release check --key "$key" || refuse "the program is not as it was released"
fi
for table in $(tables); do
    "$DEALTABLE" check-config "$ETC/$table.toml" >/dev/null || refuse "it does not take $ETC/$table.toml"
    "$DEALTABLE" deploy check "$ETC/$table.toml" || refuse "its units do not fit $ETC/$table.toml"
    # What is wrong with the table already is no fault of the new release.
    if [ -z "$self_test" ] && "$DEALTABLE" doctor --help >/dev/null 2>&1; then
        was=0 is=0
        "$PREFIX/$before/bin/dealtable" doctor "$ETC/$table.toml" >/dev/null 2>&1 || was=$?
        "$DEALTABLE" doctor "$ETC/$table.toml" || is=$?
        [ "$is" -le "$was" ] || refuse "its doctor finds what the one before does not"
    fi
done
if [ -n "$self_test" ]; then
    sh -c "$self_test" || refuse "its self-test failed: $self_test"
fi

kept=$(mktemp -d)
trap 'rm -rf "$kept"' EXIT
for table in $(tables); do
    [ ! -f "$VAR/$table/release.json" ] || cp -p "$VAR/$table/release.json" "$kept/$table.json"
done

change_over() { # version: link, files and services; false where a service does not start
    local unit broken=false table
    point "$PREFIX/current" "$1"
    install_files "$PREFIX/$1/house"
    for table in $(tables); do install_made "$table"; done
    tell_system
    booted || return 0
    for unit in $(services); do
        systemctl is-enabled -q "$unit" || continue
        # It returns once the service has said READY, or has failed to.
        systemctl restart "$unit" || { echo "$unit does not start" >&2; broken=true; }
    done
    ! $broken || return 1
    sleep "${SETTLE_S:-5}"
    for unit in $(services); do
        systemctl is-enabled -q "$unit" || continue
        systemctl is-active -q "$unit" || { echo "$unit does not stay" >&2; return 1; }
    done
}

if ! change_over "$name"; then
    # The release that failed has served nobody: tables may forget that they saw it.
    for table in $(tables); do
        if [ -f "$kept/$table.json" ]; then
            cp -p "$kept/$table.json" "$VAR/$table/release.json"
        else
            rm -f "$VAR/$table/release.json"
        fi
    done
    if change_over "$before"; then
        rm -rf "${PREFIX:?}/$name"
        echo "rolled back: $name did not start, $before serves again" >&2
    else
        echo "rolled back to $before, which does not start either: journalctl -u 'dealtable-*'" >&2
    fi
    exit 1
fi
for place in "$PREFIX"/*; do
    case ${place##*/} in
        current | "${MADE_FOLDERS##*/}" | "$name" | "$before") ;;
        *) gone "$place" ;;
    esac
done
booted || note "not restarted, and nobody has seen it serve: systemd does not run here"
echo "$name serves; $before lies beside it"
