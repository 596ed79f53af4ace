package agent

import (
	"encoding/binary"
	"io/fs"
	"net"
	"os"
	"runtime"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/desktop"
)

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

func proc(stat, available, loadavg string) fstest.MapFS {
	return fstest.MapFS{
		"proc/stat":    file(stat),
		"proc/meminfo": file("MemTotal:       1000 kB\nMemFree: 10 kB\nMemAvailable:   " + available + " kB\n"),
		"proc/loadavg": file(loadavg + " 0.00 0.00 1/100 4242\n"),
	}
}

func TestLoadIndexIsTheHighestOfThreePercentages(t *testing.T) {
	t.Parallel()
	// Two processors that have been busy for 20 % of the time since boot.
	const stat = "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 50 0 50 400 0 0 0 0 0 0\ncpu1 50 0 50 400 0 0 0 0 0 0\nintr 1\n"
	for _, tt := range []struct {
		name                     string
		stat, available, loadavg string
		want                     int
	}{
		{"processor since the start", stat, "950", "0.10", 20},
		{"memory", stat, "300", "0.10", 70},
		{"waiting processes per processor", stat, "950", "1.00", 50},
		{"never above 100", stat, "950", "17.5", 100},
	} {
		h := &host{root: proc(tt.stat, tt.available, tt.loadavg)}
		got, err := h.load()
		if err != nil || got != tt.want {
			t.Errorf("%s: %d, %v, want %d", tt.name, got, err, tt.want)
		}
	}
}

func TestProcessorLoadIsMeasuredBetweenSamples(t *testing.T) {
	t.Parallel()
	h := &host{root: proc("cpu  900 0 0 100 0 0 0 0\ncpu0 900 0 0 100 0 0 0 0\n", "1000", "0")}
	if got, err := h.load(); got != 90 || err != nil {
		t.Fatalf("first sample: %d, %v", got, err)
	}
	h.root = proc("cpu  910 0 0 190 0 0 0 0\ncpu0 910 0 0 190 0 0 0 0\n", "1000", "0")
	if got, err := h.load(); got != 10 || err != nil {
		t.Errorf("second sample: %d, %v", got, err)
	}
}

func TestMalformedProcFilesAreErrors(t *testing.T) {
	t.Parallel()
	valid := proc("cpu  1 1 1 1\n", "1", "0.1")
	for _, name := range []string{"proc/stat", "proc/meminfo", "proc/loadavg"} {
		for _, text := range []string{"", "nonsense here\ncpu a b c d"} {
			root := fstest.MapFS{name: file(text)}
			for other, f := range valid {
				if other != name {
					root[other] = f
				}
			}
			if _, err := (&host{root: root}).load(); err == nil {
				t.Errorf("%s with content %q is accepted", name, text)
			}
		}
	}
}

// utmp returns a utmp file of this machine with one record for each given type (ut_type). Type 7, USER_PROCESS, is a login of a user.
func utmp(types ...uint16) string { return utmpOf(utmpRecordSize(runtime.GOARCH), types...) }

// utmpOf returns a utmp file with one record of the given size for each type.
func utmpOf(size int, types ...uint16) string {
	var b []byte
	for _, kind := range types {
		record := make([]byte, size)
		binary.NativeEndian.PutUint16(record, kind)
		b = append(b, record...)
	}
	return string(b)
}

// TestSizeOfLoginRecords reads files whose records have the sizes of glibc. With another size, types would be read from
// other fields.
func TestSizeOfLoginRecords(t *testing.T) {
	t.Parallel()
	for arch, size := range map[string]int{"amd64": 384, "arm64": 400} {
		if got := countLogins([]byte(utmpOf(size, 2, 7, 8, 7, 6)), utmpRecordSize(arch)); got != 2 {
			t.Errorf("%s: %d logins, want 2", arch, got)
		}
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		root fstest.MapFS
		want int
	}{
		{"the login manager has precedence", fstest.MapFS{
			"run/systemd/sessions/1":     file("UID=1000\nCLASS=user\nSTATE=active\nTYPE=x11\n"),
			"run/systemd/sessions/1.ref": {Mode: fs.ModeNamedPipe},
			"run/systemd/sessions/2":     file("UID=1001\nCLASS=user\nSTATE=closing\n"),
			"run/systemd/sessions/3":     file("UID=118\nCLASS=greeter\nSTATE=active\n"),
			"run/systemd/sessions/c1":    file("CLASS=user\nSTATE=online\n"),
			"run/utmp":                   file(utmp(7, 7, 7)),
		}, 2},
		{"utmp without a login manager", fstest.MapFS{"run/utmp": file(utmp(2, 7, 8, 7, 6))}, 2},
		{"display servers without either", fstest.MapFS{
			"proc/1/comm":  file("init\n"),
			"proc/20/comm": file("Xorg\n"),
			"proc/21/comm": file("Xvnc\n"),
			"proc/22/comm": file("Xeyes\n"),
			"proc/stat":    file("cpu"),
		}, 2},
	} {
		if got, err := countSessions(tt.root); err != nil || got != tt.want {
			t.Errorf("%s: %d, %v, want %d", tt.name, got, err, tt.want)
		}
	}
	if _, err := countSessions(fstest.MapFS{}); err == nil {
		t.Error("sessions are counted without a login manager, utmp and processes; want an error")
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	open := l.Addr().String()
	defer l.Close()
	closedListener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := closedListener.Addr().String()
	_ = closedListener.Close()
	for _, tt := range []struct {
		name     string
		root     fstest.MapFS
		rdp      string
		want     desktop.RDSState
		problems int
	}{
		{"all well", fstest.MapFS{}, open, desktop.RDSAvailable, 0},
		{"listener gone", fstest.MapFS{}, closed, desktop.RDSProtocolFailure, 1},
		{"logins barred", fstest.MapFS{"etc/nologin": file("")}, "", desktop.RDSDrainMode, 1},
		{"reboot wanted", fstest.MapFS{"run/reboot-required": file("")}, "", desktop.RDSAvailable, 1},
	} {
		state, problems := (&host{root: tt.root, rdp: tt.rdp}).state(t.Context())
		if state != tt.want || len(problems) != tt.problems {
			t.Errorf("%s: state %s, problems %q; want %s with %d problems", tt.name, state, problems, tt.want, tt.problems)
		}
	}
}

func TestOperatingSystem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]desktop.OperatingSystem{
		"ID=debian\nPRETTY_NAME=\"Debian\"\n": desktop.OSLinuxOther,
		"# ID=x\n":                            desktop.OSUnknown,
	} {
		if got := operatingSystem(fstest.MapFS{"etc/os-release": file(text)}); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestThisMachine samples the machine that the test runs on.
func TestThisMachine(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/stat"); err != nil {
		t.Skip("needs Linux")
	}
	beat, err := (&host{root: os.DirFS("/")}).sample(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if beat.LoadIndex == nil || *beat.LoadIndex < 0 || *beat.LoadIndex > 100 || beat.SessionCount < 0 {
		t.Errorf("this machine reports %+v", beat)
	}
	if diff := cmp.Diff(desktop.OSLinuxOther, beat.OperatingSystem); diff != "" {
		t.Error(diff)
	}
}
