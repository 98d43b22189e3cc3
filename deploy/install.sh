#!/usr/bin/env bash
# Install a table's program, or the referees' console, from a wheelhouse: without network, as often
# as one likes. The second run changes nothing, and says so.
set -euo pipefail
house=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$house/lib.sh"

usage() {
    cat <<'END'
Install a dealing table, or the referees' console, on this computer.

    sudo ./install.sh --table T01.toml --key release.key
    sudo ./install.sh --console console.toml --key release.key

  --table FILE    a table's configuration; it becomes /etc/dealtable/ID.toml, unless one is there
  --console FILE  the console's; it becomes /var/lib/dealtable-console/console.toml, likewise
  --key FILE      the public key of releases, from elsewhere than this wheelhouse
  --unsigned      ask for no signature: for a bench
  --no-start      enable the services, but do not start them
  --dry-run       say what would be done
  --help

It needs 64-bit Debian 12 or 13 (Raspberry Pi OS), and no network. INSTALL.md says the rest.
Exit 0: all is as it should be; 2: it is not, and one line says why.
END
}

table='' console='' key='' start=true
while [ $# -gt 0 ]; do
    case $1 in
        --table | --console | --key)
            [ $# -ge 2 ] || die "$1: which file?"
            printf -v "${1#--}" %s "$2"
            shift ;;
        --unsigned) key=unsigned ;;
        --no-start) start=false ;;
        --dry-run) dry=true ;;
        --help | -h) usage; exit ;;
        *) die "$1: unknown; --help tells what there is" ;;
    esac
    shift
done
[ -n "$table$console" ] || die "what for? --table T01.toml or --console console.toml"
for file in "$table" "$console"; do
    [ -z "$file" ] || [ -f "$file" ] || die "$file: is not there"
done
as_root
[ -n "$key" ] || { [ -f "$ETC/release.key" ] && key=$ETC/release.key; } || true
fits_computer
verified "$house" "$key"
echo "dealtable $version (serial $serial)"

id=''
if [ -n "$table" ]; then
    id=$(python3 -I -c 'import sys, tomllib; print(tomllib.load(open(sys.argv[1], "rb"))["table"]["id"])' \
        "$table" 2>/dev/null) || die "$table: no table.toml: its [table] has no id"
    [[ $id =~ ^[A-Za-z0-9][A-Za-z0-9_-]{0,23}$ ]] || die "$table: table.id \"$id\" cannot be used"
fi
now=$(current)
[ -z "$now" ] || [ "$now" = "$name" ] ||
    die "$now is installed here: upgrade.sh goes from one version to the next"
extras=pi
if [ -n "$console" ] || has_console; then
    extras=console
    [ -z "$id$(tables)" ] || extras=console,pi
fi

install_version "$house" "$extras"
dealtable=$PREFIX/$name/bin/dealtable
if [ -n "$id" ] && [ -x "$dealtable" ]; then
    # Before anything is changed: a configuration that does not fit costs nothing.
    asked=$table
    [ ! -f "$ETC/$id.toml" ] || asked=$ETC/$id.toml
    "$dealtable" deploy check "$asked" || die "$asked: change it, and run this again"
fi
point "$PREFIX/current" "$name"
point "$COMMAND" "$PREFIX/current/bin/dealtable"
[ "$key" = unsigned ] || put "$key" "$ETC/release.key"

if [ -n "$id" ]; then
    if [ -f "$ETC/$id.toml" ]; then
        cmp -s "$table" "$ETC/$id.toml" || note "$ETC/$id.toml is there and stays; $table is another one"
    else
        put "$table" "$ETC/$id.toml"
    fi
fi
if [ -n "$console" ]; then
    put "$house/units/dealtable-console.service" "$UNITS/dealtable-console.service"
fi
if $dry && [ ! -x "$dealtable" ]; then
    echo "$changes steps so far; the rest follows from what they make (--dry-run)"
    exit
fi
install_files "$house"

if [ -n "$id" ]; then
    if ! $dry; then
        "$dealtable" check-config "$ETC/$id.toml" >/dev/null || die "$ETC/$id.toml: change it, and run this again"
        install_made "$id"
        systemd-tmpfiles --create "/etc/tmpfiles.d/dealtable-$id.conf"
        [ -e "$VAR/$id/keys/table.key" ] || did "keys of table $id in $VAR/$id, clients in $VAR/$id-gateway"
        "$dealtable" keys create --config "$ETC/$id.toml" >/dev/null
    fi
fi
if [ -n "$console" ]; then
    [ -d "$CONSOLE_VAR" ] || did "$CONSOLE_VAR"
    act install -d -m 0700 -o dealtable-console -g dealtable-console "$CONSOLE_VAR"
    if [ -f "$CONSOLE_VAR/console.toml" ]; then
        cmp -s "$console" "$CONSOLE_VAR/console.toml" ||
            note "$CONSOLE_VAR/console.toml is there and stays; $console is another one"
    else
        put "$console" "$CONSOLE_VAR/console.toml"
        act "$dealtable" check-config "$CONSOLE_VAR/console.toml"
    fi
fi
[ "$changes" -eq 0 ] || tell_system

mine=()
[ -z "$id" ] || mine+=("dealtable-machine@$id.service" "dealtable-gateway@$id.service")
[ -z "$console" ] || mine+=(dealtable-console.service)
for unit in "${mine[@]}"; do
    if [ "$(systemctl is-enabled "$unit" 2>/dev/null || true)" != enabled ]; then
        did "$unit is enabled"
        act systemctl enable -q "$unit"
    fi
    if $start && booted && ! systemctl is-active -q "$unit"; then
        did "$unit is started"
        act systemctl start "$unit" || die "$unit does not start: journalctl -u $unit"
    fi
done

# What the computer itself should do, and no program can do for it.
if [ -n "$id" ] && [ "$(wc -l </proc/swaps)" -gt 1 ]; then
    note "this computer swaps: keys of a deal could reach the disk; switch it off (INSTALL.md)"
fi
if booted; then
    [ "$(timedatectl show -p NTPSynchronized --value 2>/dev/null)" = yes ] ||
        note "the clock is not synchronised: entries will carry its time (timedatectl)"
else
    note "time synchronisation was not looked at: systemd does not run here"
fi
find_lgpio='import importlib.util, sys; sys.exit(importlib.util.find_spec("lgpio") is None)'
if [ -n "$id" ] && ! "$PREFIX/current/bin/python3" -I -c "$find_lgpio"; then
    note "no lgpio for this Python: sudo apt install python3-lgpio (Raspberry Pi OS 13 has it)"
fi
if [ "$changes" -eq 0 ]; then
    echo "nothing to change: all is as it should be"
elif $dry; then
    echo "$changes steps would be taken (--dry-run)"
else
    echo "$changes steps taken"
    booted || note "start it: systemctl start ${mine[*]}"
fi
