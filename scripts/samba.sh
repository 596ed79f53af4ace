#!/bin/sh
# Starts and stops a real directory for the tests: a Samba domain controller of the domain
# corp.example, on a loopback address that nothing else uses.
#
#   scripts/samba.sh start DIR   start it, unless it runs, and print its address
#   scripts/samba.sh kill DIR    kill it, and keep its data
#   scripts/samba.sh stop DIR    stop it and remove its data
#
# DIR contains ca.pem, the certificate authority of the directory. The function seed creates
# the users. The script must run as root, because the ports of a directory are fixed and low.
# It installs the Debian packages that are missing. Exit status 3 means that a directory is
# not available on this machine.
set -eu

address=127.0.0.10
realm=corp.example

say() { echo "samba.sh: $*" >&2; }

# quietly runs a command and shows its output only if it fails.
quietly() {
	output=$("$@" 2>&1 </dev/null) || {
		say "$* failed:"
		echo "$output" >&2
		return 1
	}
}

# programs makes sure that the script runs as root and that the programs are installed.
programs() {
	if [ "$(id -u)" != 0 ]; then
		say "a directory listens on ports 389 and 636, which requires root"
		exit 3
	fi
	if command -v samba >/dev/null && command -v samba-tool >/dev/null && command -v openssl >/dev/null; then
		return
	fi
	if ! command -v apt-get >/dev/null; then
		say "samba and openssl are required but not installed"
		exit 3
	fi
	say "installing Samba"
	export DEBIAN_FRONTEND=noninteractive
	set -- apt-get install -y --no-install-recommends samba samba-ad-provision samba-dsdb-modules samba-vfs-modules python3-samba openssl
	quietly "$@" || { quietly apt-get update && quietly "$@"; } || exit 3
}

# configure writes the configuration: only the services of a directory, and no files outside
# DIR.
configure() {
	cat >"$dir/etc/smb.conf" <<-END
		[global]
		netbios name = DC1
		realm = CORP.EXAMPLE
		workgroup = CORP
		server role = active directory domain controller
		server services = ldap, cldap, rpc, kdc
		dcerpc endpoint servers = epmapper, lsarpc, samr, netlogon, drsuapi
		interfaces = $address/8
		bind interfaces only = yes
		private dir = $dir/private
		lock directory = $dir
		state directory = $dir/state
		cache directory = $dir/cache
		pid directory = $dir/run
		ncalrpc dir = $dir/run/ncalrpc
		log file = $dir/log/samba.log
		logging = file
		disable netbios = yes
		load printers = no
		printing = bsd
		tls keyfile = $dir/private/tls/key.pem
		tls certfile = $dir/private/tls/cert.pem
		tls cafile = $dir/ca.pem
	END
}

# certify creates a certificate authority and a certificate of the directory. Current clients
# refuse the certificate that Samba creates, because it has no suitable host name.
certify() {
	mkdir -p "$dir/private/tls"
	quietly openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj "/CN=Test CA" \
		-addext basicConstraints=critical,CA:TRUE -keyout "$dir/ca-key.pem" -out "$dir/ca.pem"
	quietly openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=dc1.$realm" \
		-keyout "$dir/private/tls/key.pem" -out "$dir/private/tls/request.pem"
	printf 'subjectAltName=IP:%s,DNS:dc1.%s\n' "$address" "$realm" >"$dir/private/tls/names"
	quietly openssl x509 -req -in "$dir/private/tls/request.pem" -days 30 -CA "$dir/ca.pem" -CAkey "$dir/ca-key.pem" \
		-CAcreateserial -extfile "$dir/private/tls/names" -out "$dir/private/tls/cert.pem"
	chmod 600 "$dir/private/tls/key.pem" "$dir/ca-key.pem"
}

# seed fills the directory: users, nested groups, trusts, certificate templates.
seed() {
	openssl x509 -in "$dir/ca.pem" -outform DER -out "$dir/ca.der"
	# Samba's modules are in Debian's Python; another Python may come first in PATH.
	/usr/bin/python3 - "$dir" <<'END'
import sys
import ldb
from samba.auth import system_session
from samba.dcerpc import security
from samba.ndr import ndr_pack
from samba.param import LoadParm
from samba.samdb import SamDB

folder = sys.argv[1]
lp = LoadParm()
lp.load(folder + "/etc/smb.conf")
db = SamDB(url=lp.private_path("sam.ldb"), session_info=system_session(), lp=lp)
base = str(db.domain_dn())
config = str(db.get_config_basedn())
password = "Passw0rd!Test"
for name in ("svc-vigil", "alice", "bob", "off", "old", "new", "victim"):
    db.newuser(name, password)
db.newgroup("Root Admins")
db.newgroup("Ops")
db.add_remove_group_members("Root Admins", ["Ops"], add_members_operation=True)
db.add_remove_group_members("Ops", ["alice", "off", "old", "new"], add_members_operation=True)
db.disable_account("(sAMAccountName=off)")
db.setexpiry("(sAMAccountName=old)", -86400)
db.setpassword("(sAMAccountName=new)", password, force_change_at_next_login=True)
db.add({"dn": "OU=Clones," + base, "objectClass": "organizationalUnit"})

# Five wrong passwords within half an hour lock an account. The keys a, b and c have no meaning.
rule = ldb.Message(ldb.Dn(db, base))
rule["a"] = ldb.MessageElement("5", ldb.FLAG_MOD_REPLACE, "lockoutThreshold")
rule["b"] = ldb.MessageElement(str(-30 * 60 * 10**7), ldb.FLAG_MOD_REPLACE, "lockOutObservationWindow")
rule["c"] = ldb.MessageElement(str(-30 * 60 * 10**7), ldb.FLAG_MOD_REPLACE, "lockoutDuration")
db.modify(rule)

# Alice may create computers in the organisational unit of clones.
sid = db.search(base, scope=ldb.SCOPE_SUBTREE, expression="(sAMAccountName=alice)", attrs=["objectSid"])[0]["objectSid"][0]
sid = str(security.dom_sid(db.schema_format_value("objectSID", sid).decode()))
from samba.sd_utils import SDUtils
SDUtils(db).dacl_add_ace("OU=Clones," + base, "(OA;;CC;bf967a86-0de6-11d0-a285-00aa003049e2;;%s)" % sid)

# A two-way forest trust, a two-way trust with a child domain, and an inbound trust with a Windows NT domain.
for i, (name, flat, direction, kind, attributes) in enumerate((
        ("lab.example", "LAB", 3, 2, 0x8), ("child.corp.example", "CHILD", 3, 2, 0x20), ("old", "OLDNT", 1, 1, 0))):
    db.add({
        "dn": "CN=%s,CN=System,%s" % (name, base), "objectClass": "trustedDomain", "trustPartner": name, "flatName": flat,
        "trustDirection": str(direction), "trustType": str(kind), "trustAttributes": str(attributes),
        "securityIdentifier": ndr_pack(security.dom_sid("S-1-5-21-9-9-%d" % (i + 1)))}, ["relax:0"])

services = "CN=Public Key Services,CN=Services," + config
db.add({
    "dn": "CN=TrueSso,CN=Certificate Templates," + services, "objectClass": "pKICertificateTemplate", "displayName": "True SSO",
    "pKIExtendedKeyUsage": "1.3.6.1.4.1.311.20.2.2", "msPKI-Minimal-Key-Size": "2048"}, ["relax:0"])
db.add({
    "dn": "CN=corp-ca,CN=Enrollment Services," + services, "objectClass": "pKIEnrollmentService", "dNSHostName": "ca.corp.example",
    "certificateTemplates": "TrueSso", "cACertificate": open(folder + "/ca.der", "rb").read()}, ["relax:0"])
END
}

create() {
	mkdir -p "$dir"
	quietly samba-tool domain provision --targetdir="$dir" --realm=CORP.EXAMPLE --domain=CORP --host-name=dc1 \
		--host-ip="$address" --host-ip6=::1 --adminpass='Passw0rd!Test' --server-role=dc --dns-backend=NONE
	mkdir -p "$dir/log" "$dir/run"
	configure
	certify
	seed
	touch "$dir/complete"
}

running() { [ -s "$dir/run/test.pid" ] && kill -0 "$(cat "$dir/run/test.pid")" 2>/dev/null; }

start() {
	programs
	mkdir -p "$dir"
	dir=$(cd "$dir" && pwd)
	if [ ! -f "$dir/complete" ]; then
		find "$dir" -mindepth 1 -delete
		create
	fi
	if ! running; then
		samba -s "$dir/etc/smb.conf" -F -M single --no-process-group >"$dir/log/out" 2>&1 </dev/null &
		echo $! >"$dir/run/test.pid"
	fi
	tries=0
	until openssl s_client -connect "$address:636" -CAfile "$dir/ca.pem" -verify_return_error </dev/null >/dev/null 2>&1; do
		tries=$((tries + 1))
		if [ $tries -gt 150 ] || ! running; then
			say "the directory does not start:"
			tail -n 20 "$dir/log/out" "$dir/log/samba.log" >&2
			exit 1
		fi
		sleep 0.2
	done
	echo "$address"
}

# end stops the directory and waits until its processes have ended.
end() {
	[ -d "$dir" ] || return 0
	if running; then
		kill "-$1" "$(cat "$dir/run/test.pid")"
		while running; do sleep 0.1; done
	fi
	rm -f "$dir/run/test.pid"
}

if [ $# -ne 2 ] || [ -z "$2" ]; then
	say "usage: samba.sh start|kill|stop DIR"
	exit 2
fi
dir=$2
case $1 in
start) start ;;
kill) end KILL ;;
stop)
	end TERM
	rm -rf "$dir"
	;;
*)
	say "usage: samba.sh start|kill|stop DIR"
	exit 2
	;;
esac
