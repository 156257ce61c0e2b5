//go:build screen && !headless

package desktop_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/engine/hopxml"
)

// window drives the real window of a built program with xdotool. It needs a screen
// with a window manager; assets/scripts/screen starts one.
type window struct {
	t      *testing.T
	id     string
	events string // event log
	home   string
	shots  string // where pictures go

	process *os.Process
}

const (
	patience = 20 * time.Second
	between  = 80 * time.Millisecond // between events of the pointer
)

func startWindow(t *testing.T, memory string) *window {
	t.Helper()
	binary := os.Getenv("SLUICE_BINARY")
	if binary == "" || os.Getenv("DISPLAY") == "" {
		t.Fatal("run this test by assets/scripts/screen: it needs a screen (DISPLAY) and a program (SLUICE_BINARY)")
	}
	home := t.TempDir()
	w := &window{t: t, home: home, events: filepath.Join(home, "events.log"), shots: os.Getenv("SLUICE_SCREENSHOTS")}
	config := filepath.Join(home, ".config", "sluice")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "desktop.json"), []byte(memory), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(binary)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	c.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "SLUICE_EVENT_LOG="+w.events, "LANG=en_US.UTF-8")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	w.process = c.Process
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	t.Cleanup(func() {
		_ = c.Process.Kill() // may have ended by itself
		<-ended
		if t.Failed() {
			t.Logf("events:\n%s\noutput:\n%s", w.log(), out.String())
		}
	})
	w.wait("started")
	w.until("the window is there", func() bool {
		w.id = strings.TrimSpace(w.try("search", "--onlyvisible", "--pid", strconv.Itoa(c.Process.Pid)))
		if i := strings.LastIndexByte(w.id, '\n'); i >= 0 {
			w.id = w.id[i+1:]
		}
		return w.id != ""
	})
	w.do("windowactivate", "--sync", w.id)
	w.do("windowsize", "--sync", w.id, "1440", "900")
	return w
}

func (w *window) try(args ...string) string {
	out, _ := exec.Command("xdotool", args...).Output()
	return string(out)
}

func (w *window) do(args ...string) {
	w.t.Helper()
	if out, err := exec.Command("xdotool", args...).CombinedOutput(); err != nil {
		w.t.Fatalf("xdotool %v: %v: %s", args, err, out)
	}
}

func (w *window) log() string {
	data, _ := os.ReadFile(w.events)
	return string(data)
}

// until waits for a condition; it never sleeps for a fixed time instead.
func (w *window) until(what string, ok func() bool) {
	w.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(between) {
		if ok() {
			return
		}
		if time.Now().After(end) {
			w.t.Fatalf("waited in vain: %s", what)
		}
	}
}

// wait waits for a line of the event log that begins so, behind those seen.
func (w *window) wait(event string) {
	w.t.Helper()
	w.count(event, 1)
}

// count waits for a number of such lines.
func (w *window) count(event string, n int) {
	w.t.Helper()
	w.until(fmt.Sprintf("event %q, %d times", event, n), func() bool { return strings.Count("\n"+w.log(), "\n"+event) >= n })
}

func (w *window) key(keys ...string) {
	w.t.Helper()
	for _, k := range keys {
		w.do("key", "--clearmodifiers", k)
		time.Sleep(between)
	}
}

func (w *window) write(text string) {
	w.t.Helper()
	w.do("type", "--delay", "20", text)
}

func (w *window) move(x, y int) {
	w.t.Helper()
	w.do("mousemove", "--window", w.id, strconv.Itoa(x), strconv.Itoa(y))
	time.Sleep(between)
}

func (w *window) click(x, y int) {
	w.t.Helper()
	w.move(x, y)
	w.do("click", "1")
	time.Sleep(between)
}

func (w *window) doubleClick(x, y int) {
	w.t.Helper()
	w.move(x, y)
	w.do("click", "--repeat", "2", "--delay", "100", "1")
}

// connect drags a hop with Shift.
func (w *window) connect(x0, y0, x1, y1 int) {
	w.t.Helper()
	w.move(x0, y0)
	w.do("keydown", "shift")
	w.do("mousedown", "1")
	for i := 1; i <= 8; i++ {
		w.move(x0+(x1-x0)*i/8, y0+(y1-y0)*i/8)
	}
	w.do("mouseup", "1")
	w.do("keyup", "shift")
}

// shot leaves a picture; it is for people, nothing compares it.
func (w *window) shot(name string) {
	if w.shots == "" {
		return
	}
	time.Sleep(4 * between) // let the last frame be drawn
	if out, err := exec.Command("import", "-window", w.id, filepath.Join(w.shots, name+".png")).CombinedOutput(); err != nil {
		w.t.Errorf("picture %s: %v: %s", name, err, out)
	}
}

// place adds a transform by a click on the empty canvas and the context dialog.
func (w *window) place(n, x, y int, search, id string) {
	w.t.Helper()
	w.click(x, y)
	w.count("context dialog", n)
	w.until("the search has the keyboard", func() bool { time.Sleep(3 * between); return true })
	w.write(search)
	if n == 1 {
		w.shot("context-dialog")
	}
	w.key("Return")
	w.wait("edit add " + id)
}

func TestScreenMakeSaveAndRunAPipeline(t *testing.T) {
	w := startWindow(t, "{}")
	w.shot("welcome")
	w.key("ctrl+n")
	w.wait("new New pipeline 1")
	w.place(1, 480, 260, "generate rows", "RowGenerator")
	w.click(480, 480) // only takes the selection away
	w.place(2, 680, 260, "dummy", "Dummy")
	w.click(480, 480)
	w.place(3, 880, 260, "write to log", "WriteToLog")
	w.connect(480, 260, 680, 260)
	w.count("edit connect", 1)
	w.connect(680, 260, 880, 260)
	w.count("edit connect", 2)

	w.click(480, 480)
	w.doubleClick(480, 260)
	w.wait("dialog Generate rows")
	w.key("Tab", "Tab", "ctrl+a")
	w.write("25")
	w.shot("form")
	w.key("ctrl+Return")
	w.wait("settings Generate rows")

	target := filepath.Join(w.home, "made.hpl")
	w.key("ctrl+s")
	w.wait("dialog Save as")
	w.until("the path has the keyboard", func() bool { time.Sleep(3 * between); return true })
	w.key("ctrl+a")
	w.write(target)
	w.key("Return")
	w.wait("saved " + target)

	w.key("F8")
	w.wait("dialog Run made.hpl")
	w.key("Return")
	w.wait("run Succeeded")
	w.shot("designer")

	d, err := hopxml.Open(target)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Pipeline()
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Transforms) != 3 || len(p.Hops) != 2 {
		t.Fatalf("%d transforms and %d hops were saved:\n%s", len(p.Transforms), len(p.Hops), d.Bytes())
	}
	if got := p.Transform("Generate rows").Element.Child("limit").Text(); got != "25" {
		t.Errorf("the limit is %q:\n%s", got, p.Transform("Generate rows").Element.Raw())
	}

	w.key("ctrl+z")
	w.count("undo", 1)
	w.key("ctrl+shift+z")
	w.count("redo", 1)
	w.key("ctrl+w")
	w.wait("closed made.hpl")
	w.key("ctrl+q")
	w.until("the window's state is kept", func() bool {
		data, err := os.ReadFile(filepath.Join(w.home, ".config", "sluice", "desktop.json"))
		return err == nil && strings.Contains(string(data), "made.hpl")
	})
	w.until("the program ends", func() bool { return w.process.Signal(syscall.Signal(0)) != nil })
}

func TestScreenSample(t *testing.T) {
	for name, memory := range map[string]string{"light": `{}`, "dark": `{"dark": true}`} {
		t.Run(name, func(t *testing.T) {
			w := startWindow(t, memory)
			w.click(348, 268)
			w.wait("opened ")
			w.wait("problems 0")
			w.key("F8")
			w.wait("dialog Run main.hpl")
			w.shot("run-dialog-" + name)
			w.key("Return")
			w.wait("run Succeeded")
			w.shot("sample-" + name)
			w.doubleClick(672, 371)
			w.wait("dialog Filter rows")
			w.shot("form-filter-" + name)
			w.key("Escape")
			w.doubleClick(1370, 371)
			w.wait("dialog Text file output")
			w.shot("form-output-" + name)
			w.key("Escape")
			w.move(700, 620)
			w.do("windowsize", "--sync", w.id, "1024", "700")
			w.key("Home")
			w.shot("small-" + name)
		})
	}
}

func TestScreenShowsAFailure(t *testing.T) {
	w := startWindow(t, `{}`)
	w.click(348, 268)
	w.wait("opened ")
	w.wait("problems 0")
	data := filepath.Join(w.home, "Sluice sample", "customers.csv")
	if err := os.Rename(data, data+".away"); err != nil {
		t.Fatal(err)
	}
	w.key("F8")
	w.wait("dialog Run main.hpl")
	w.key("Return")
	w.wait("run Failed")
	w.shot("failed")
}
