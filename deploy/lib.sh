# shellcheck shell=bash
# What install.sh, upgrade.sh and uninstall.sh share. Nothing here runs by itself.

PREFIX=/opt/dealtable
ETC=/etc/dealtable
VAR=/var/lib/dealtable
CONSOLE_VAR=/var/lib/dealtable-console
UNITS=/etc/systemd/system
COMMAND=/usr/local/bin/dealtable
MADE_FOLDERS=$PREFIX/made-folders # those of the system that install.sh had to make
TABLE_UNITS=(dealtable-machine dealtable-gateway)
ADAPTER_UNITS=(dealtable-barcode) # a technician enables them where there are such parts

dry=false     # say only
changes=0     # what was done, or would be
umask 022
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1

die() { # one line: what is wrong, and what to do; exit 2
    echo "$0: $*" >&2
    exit 2
}

note() {
    echo "  note: $*"
}

did() { # something is changed; it is said
    changes=$((changes + 1))
    if $dry; then echo "  would: $*"; else echo "  $*"; fi
}

act() { # words..., unless this run only says
    $dry || "$@"
}

as_root() {
    [ "$(id -u)" -eq 0 ] || die "only root changes what belongs to the computer: sudo $0 …"
}

booted() { # is systemd the one that runs this computer
    [ -d /run/systemd/system ]
}

put() { # file, where, mode: unless it is there already
    local mode=${3:-0644}
    if [ -f "$2" ] && cmp -s "$1" "$2" && [ "$(stat -c %a "$2")" = "${mode#0}" ]; then
        return
    fi
    did "$2"
    act record_folders "$2"
    act install -D -m "$mode" -o root -g root "$1" "$2"
}

record_folders() { # file: write down the folders above it that are not there yet
    local folder
    folder=$(dirname "$1")
    while [ ! -d "$folder" ]; do
        mkdir -p "$(dirname "$MADE_FOLDERS")"
        echo "$folder" >>"$MADE_FOLDERS"
        folder=$(dirname "$folder")
    done
}

made_folders_gone() { # those that install.sh made, where they are empty and no package has them by now
    local folder
    [ -f "$MADE_FOLDERS" ] || return 0
    while read -r folder; do
        dpkg -S "$folder" >/dev/null 2>&1 || gone_if_empty "$folder"
    done < <(sort -ru "$MADE_FOLDERS")
}

gone() { # files and folders that shall not be there
    local path
    for path in "$@"; do
        [ -e "$path" ] || [ -L "$path" ] || continue
        did "removed $path"
        act rm -rf -- "$path"
    done
}

gone_if_empty() { # folder
    if [ -d "$1" ] && [ -z "$(ls -A "$1")" ]; then
        did "removed $1"
        act rmdir "$1"
    fi
}

point() { # link, to what: at once, so that there is no moment without it
    [ "$(readlink "$1" || true)" = "$2" ] && return
    did "$1 -> $2"
    $dry && return
    mkdir -p "$(dirname "$1")"
    ln -sfn "$2" "$1.new"
    mv -T "$1.new" "$1"
}

fits_computer() { # a 64-bit Debian 12 or 13, with a Python of its own
    [ "$(getconf LONG_BIT)" = 64 ] || die "this system is a 32-bit one: install 64-bit Raspberry Pi OS"
    case "$(. /etc/os-release && echo "$ID-$VERSION_ID")" in
        debian-12 | debian-13) ;;
        *) note "made for Debian 12 and 13, and Raspberry Pi OS upon them" ;;
    esac
    python3 -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' ||
        die "python3 3.11 or newer is needed, and is not here"
}

verified() { # wheelhouse, key or "unsigned": sets version, serial, digest and name
    local said
    if [ "$2" = unsigned ]; then
        said=$(python3 -I "$1/verify_wheelhouse.py" "$1" --unsigned) || die "this wheelhouse is not used"
        note "nobody's signature was asked for (--unsigned)"
    else
        [ -n "$2" ] || die "who signed it? --key release.key, or --unsigned for a bench"
        command -v openssl >/dev/null || die "openssl is needed to check signatures: apt install openssl"
        said=$(python3 -I "$1/verify_wheelhouse.py" "$1" --key "$2") || die "this wheelhouse is not used"
    fi
    read -r version serial digest <<<"$said"
    name=$version-$serial
}

current() { # the version that runs, if any
    local link
    link=$(readlink "$PREFIX/current" || true)
    echo "${link##*/}"
}

serial_in() { # a manifest or a release.json: its serial, 0 where there is none
    [ -f "$1" ] || { echo 0; return; }
    python3 -I -c 'import json, sys; print(json.load(open(sys.argv[1]))["serial"])' "$1"
}

tables() { # the ids of the tables of this computer
    local file
    for file in "$ETC"/*.toml; do
        [ -e "$file" ] && basename "$file" .toml
    done
    return 0
}

has_console() {
    [ -e "$UNITS/dealtable-console.service" ]
}

services() { # all units of this computer, in the order in which they begin
    local table unit
    for table in $(tables); do
        for unit in "${ADAPTER_UNITS[@]}" "${TABLE_UNITS[@]}"; do echo "$unit@$table.service"; done
    done
    has_console && echo dealtable-console.service
    return 0
}

install_version() { # wheelhouse, extras: beside the others, in a folder of its own
    local place=$PREFIX/$name pip extra=$2 site=() anew=(--ignore-installed)
    if [ -f "$place/complete" ] && [ "$(cat "$place/complete")" = "$digest $extra" ]; then
        return
    fi
    if [ -f "$place/complete" ]; then
        [[ "$(cat "$place/complete")" == "$digest "* ]] ||
            die "$place: another release of this version and serial; uninstall that, or raise the serial"
        anew=() # a console comes to a table, or the other way round: what runs is left as it is
    fi
    did "$place"
    $dry && return
    # Where lgpio has no wheel, the system's own is used (python3-lgpio of Raspberry Pi OS).
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 13))' && site=(--system-site-packages)
    pip=$(echo "$1"/wheels/pip-*.whl)
    if [ ${#anew[@]} -gt 0 ]; then
        rm -rf "$place"
        python3 -m venv --without-pip "${site[@]}" "$place"
    fi
    PYTHONPATH=$pip "$place/bin/python3" -m pip --isolated --no-cache-dir --disable-pip-version-check \
        install -q --root-user-action=ignore --no-index "${anew[@]}" \
        --find-links "$1/wheels" "dealtable[$extra]==$version" ||
        die "$name could not be installed; nothing else was changed"
    rm -rf "$place/house"
    mkdir "$place/house"
    cp -r "$1"/{manifest.json,verify_wheelhouse.py,lib.sh,upgrade.sh,uninstall.sh,units,computer} "$place/house"
    cp "$1"/*.md "$place/house"
    [ ! -f "$1/manifest.json.sig" ] || cp "$1/manifest.json.sig" "$place/house"
    chown -R root:root "$place"
    chmod -R u=rwX,go=rX "$place/house"
    echo "$digest $extra" >"$place/complete"
}

install_files() { # the wheelhouse of a version: what the system is told, the same for every table
    local from=$1 unit
    if [ -n "$(tables)" ]; then
        for unit in "${ADAPTER_UNITS[@]}" "${TABLE_UNITS[@]}"; do
            put "$from/units/$unit@.service" "$UNITS/$unit@.service"
        done
        put "$from/computer/sysusers.conf" /etc/sysusers.d/dealtable.conf
        put "$from/computer/modules.conf" /etc/modules-load.d/dealtable.conf
        make_users dealtable dealtable-gateway
    fi
    if has_console; then
        put "$from/units/dealtable-console.service" "$UNITS/dealtable-console.service"
        put "$from/computer/sysusers-console.conf" /etc/sysusers.d/dealtable-console.conf
        make_users dealtable-console
    fi
    put "$from/computer/journald.conf" /etc/systemd/journald.conf.d/dealtable.conf
}

make_users() { # names: of the system, as sysusers.d says by now
    local user missing=false
    for user in "$@"; do
        getent passwd "$user" >/dev/null && continue
        did "user $user"
        missing=true
    done
    ! $missing || act systemd-sysusers
}

install_made() { # what is made of a table's own configuration: its ports' names, its folders
    local table=$1 made
    made=$(mktemp)
    "$PREFIX/current/bin/dealtable" deploy udev "$ETC/$table.toml" >"$made" ||
        { rm "$made"; die "$ETC/$table.toml: change it, and run this again"; }
    put "$made" "/etc/udev/rules.d/70-dealtable-$table.rules"
    "$PREFIX/current/bin/dealtable" deploy tmpfiles "$ETC/$table.toml" >"$made"
    put "$made" "/etc/tmpfiles.d/dealtable-$table.conf"
    rm "$made"
}

tell_system() { # of new files; only a running systemd hears it
    if ! booted; then
        note "systemd does not run here: units, ports' names and limits count from the next start"
        return
    fi
    act systemctl daemon-reload
    act systemctl try-restart systemd-journald
    act modprobe -aq cdc_acm ftdi_sio || true
    act udevadm control --reload || note "udev was not told of the ports' names"
    act udevadm trigger --action=change --subsystem-match=tty --subsystem-match=usb-serial \
        --subsystem-match=gpio || true
}
