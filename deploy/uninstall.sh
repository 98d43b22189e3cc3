#!/usr/bin/env bash
# Take everything away that install.sh and the services have brought to this computer.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$here/lib.sh"

usage() {
    cat <<'END'
Remove tables and console from this computer, and all that they have kept.

    sudo /opt/dealtable/current/house/uninstall.sh --keep-journal

  --keep-journal  journals, keys and the console's records stay, as root's, in /var/lib
  --everything    they go, too: played deals can then be proved by nobody
  --dry-run       say what would be done
  --help
END
}

keep=''
while [ $# -gt 0 ]; do
    case $1 in
        --keep-journal) keep=true ;;
        --everything) keep=false ;;
        --dry-run) dry=true ;;
        --help | -h) usage; exit ;;
        *) die "$1: unknown; --help tells what there is" ;;
    esac
    shift
done
[ -n "$keep" ] || die "journals and keys: --keep-journal, or --everything"
as_root

for unit in $(services); do
    if booted && systemctl is-active -q "$unit"; then
        did "$unit is stopped"
        act systemctl stop "$unit"
    fi
    if [ "$(systemctl is-enabled "$unit" 2>/dev/null || true)" = enabled ]; then
        did "$unit is disabled"
        act systemctl disable -q "$unit"
    fi
done
for table in $(tables); do
    gone "/etc/udev/rules.d/70-dealtable-$table.rules" "/etc/tmpfiles.d/dealtable-$table.conf"
done
for unit in "${ADAPTER_UNITS[@]}" "${TABLE_UNITS[@]}"; do gone "$UNITS/$unit@.service"; done
gone "$UNITS/dealtable-console.service" \
    /etc/sysusers.d/dealtable.conf /etc/sysusers.d/dealtable-console.conf \
    /etc/modules-load.d/dealtable.conf /etc/systemd/journald.conf.d/dealtable.conf
made_folders_gone
gone /run/dealtable /run/dealtable-barcode "$ETC" "$COMMAND" "$PREFIX" \
    "$VAR-barcode"
for place in "$VAR" "$CONSOLE_VAR"; do
    if $keep && [ -e "$place" ]; then
        note "$place stays"
        act chown -R root:root "$place"
        act chmod 0700 "$place"
    else
        gone "$place"
    fi
done
for user in dealtable dealtable-gateway dealtable-console; do
    getent passwd "$user" >/dev/null || continue
    did "removed user $user"
    act userdel "$user"
done
[ "$changes" -eq 0 ] || tell_system
[ "$changes" -gt 0 ] || echo "nothing to change: nothing of it is here"
