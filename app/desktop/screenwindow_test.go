//go:build screen && !headless

package desktop_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/app/desktop"
)

// window drives the real window of a built program with xdotool. It needs a screen
// with a window manager; assets/scripts/screen starts one. It waits on the log of
// events and on what the program says is where, never for a time.
type window struct {
	t      *testing.T
	id     string
	events string // event log
	home   string
	shots  string // where pictures go

	seen    int // lines of the event log when something was waited for
	process *os.Process
	ended   chan struct{} // closed when the program has ended
}

const (
	patience = 60 * time.Second      // a busy machine may be that slow
	between  = 80 * time.Millisecond // between events of the pointer
)

// started is how a window is started.
type started struct {
	memory string // what is kept from the last time; "" for the first one
	args   []string
	home   string // of an earlier start; "" for a new one
	mute   bool   // without event log: nothing but what a user has
}

func startWindow(t *testing.T, o started) *window {
	t.Helper()
	binary := os.Getenv("SLUICE_BINARY")
	if binary == "" || os.Getenv("DISPLAY") == "" {
		t.Fatal("run this test by assets/scripts/screen: it needs a screen (DISPLAY) and a program (SLUICE_BINARY)")
	}
	if o.home == "" {
		o.home = t.TempDir()
	}
	w := &window{t: t, home: o.home, events: filepath.Join(o.home, "events.log"), shots: os.Getenv("SLUICE_SCREENSHOTS"), ended: make(chan struct{})}
	if o.memory != "" {
		w.store(filepath.Join(o.home, ".config", "sluice", "desktop.json"), o.memory)
	}
	if err := os.RemoveAll(w.events); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(binary, o.args...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	c.Env = append(os.Environ(), "HOME="+o.home, "XDG_CONFIG_HOME="+o.home+"/.config", "SLUICE_DATA="+w.data(), "SLUICE_CACHE="+o.home+"/cache",
		"HOP_CONFIG_FOLDER="+o.home, "SLUICE_SNAPSHOTS=", "LANG=en_US.UTF-8", "FYNE_SCALE=1")
	if !o.mute {
		c.Env = append(c.Env, "SLUICE_EVENT_LOG="+w.events)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	w.process = c.Process
	go func() { _ = c.Wait(); close(w.ended) }() // killed ones end with an error
	t.Cleanup(func() {
		w.kill()
		if t.Failed() {
			t.Logf("events:\n%s\nin the window: %v\noutput:\n%s", w.log(), w.positions(), out.String())
		}
	})
	if !o.mute {
		w.wait("started")
	}
	w.until("the window is there", func() bool {
		ids := strings.Fields(w.try("search", "--onlyvisible", "--pid", strconv.Itoa(c.Process.Pid)))
		if len(ids) > 0 {
			w.id = ids[len(ids)-1]
		}
		return w.id != ""
	})
	w.do("windowactivate", "--sync", w.id)
	if !strings.Contains(o.memory, "width") {
		w.resize(1440, 900)
	}
	return w
}

// data is the folder for records and snapshots of the program.
func (w *window) data() string { return filepath.Join(w.home, "data") }

func (w *window) store(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// kill ends the program as a crash does.
func (w *window) kill() {
	_ = w.process.Kill() // may have ended by itself
	<-w.ended
}

// busy is the time of processors that the program takes during a while.
func (w *window) busy(during time.Duration) time.Duration {
	w.t.Helper()
	before := w.processor()
	time.Sleep(during)
	return w.processor() - before
}

// processor is the time of processors that the program has taken, from proc(5).
func (w *window) processor() time.Duration {
	w.t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.process.Pid))
	if err != nil {
		w.t.Fatal(err)
	}
	// Behind the name, which ends with the last bracket, utime and stime are the
	// 12th and 13th field, in hundredths of a second.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	var ticks time.Duration
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(f)
		if err != nil {
			w.t.Fatal(err)
		}
		ticks += time.Duration(n)
	}
	return ticks * 10 * time.Millisecond
}

// awaitEnd waits until the program has ended by itself.
func (w *window) awaitEnd() {
	w.t.Helper()
	w.until("the program ends", func() bool {
		select {
		case <-w.ended:
			return true
		default:
			return false
		}
	})
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

func (w *window) resize(width, height int) {
	w.t.Helper()
	w.do("windowsize", "--sync", w.id, strconv.Itoa(width), strconv.Itoa(height))
}

func (w *window) log() string {
	data, _ := os.ReadFile(w.events)
	return string(data)
}

// until waits for a condition.
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

// wait waits for a line of the event log that begins so.
func (w *window) wait(event string) {
	w.t.Helper()
	w.count(event, 1)
}

// count waits for a number of such lines.
func (w *window) count(event string, n int) {
	w.t.Helper()
	w.until(fmt.Sprintf("event %q, %d times", event, n), func() bool {
		log := w.log()
		w.seen = strings.Count(log, "\n")
		return count(log, event) >= n
	})
}

// happened counts the lines of the event log that begin so.
func (w *window) happened(event string) int { return count(w.log(), event) }

func count(log, event string) int { return strings.Count("\n"+log, "\n"+event) }

// positions are where things are now.
func (w *window) positions() []desktop.Position {
	var now desktop.Positions
	data, err := os.ReadFile(w.events + ".positions")
	if err != nil || json.Unmarshal(data, &now) != nil || now.Events < w.seen {
		return nil // what is told there is older than what the test knows
	}
	return now.Things
}

// find waits for something that can be used, and that stays where it is.
func (w *window) find(what string, fits func(desktop.Position) bool) desktop.Position {
	w.t.Helper()
	var found, before desktop.Position
	w.until(what, func() bool {
		before, found = found, desktop.Position{}
		for _, p := range w.positions() {
			if !p.Off && fits(p) {
				found = p
				break
			}
		}
		return found.Kind != "" && found == before
	})
	return found
}

func (w *window) named(kind, name string) desktop.Position {
	w.t.Helper()
	return w.find(kind+" "+name, func(p desktop.Position) bool { return p.Kind == kind && p.Name == name })
}

// at is where something is, in pixels of the window.
func at(p desktop.Position) (x, y int) {
	return int(math.Round(float64(p.X))), int(math.Round(float64(p.Y)))
}

// press clicks on a button or check box.
func (w *window) press(kind, name string) {
	w.t.Helper()
	w.click(at(w.named(kind, name)))
}

// canvas is a place of the canvas, from its middle.
func (w *window) canvas(dx, dy int) (x, y int) {
	w.t.Helper()
	x, y = at(w.find("canvas", func(p desktop.Position) bool { return p.Kind == "canvas" }))
	return x + dx, y + dy
}

// typing waits until a text field, or the canvas, has the keyboard.
func (w *window) typing(kind string) {
	w.t.Helper()
	w.find(kind+" with the keyboard", func(p desktop.Position) bool { return p.Kind == kind && p.Keys })
}

// fill replaces the text of the field below a label.
func (w *window) fill(label, text string) {
	w.t.Helper()
	above := w.find("label "+label, func(p desktop.Position) bool {
		return p.Kind == "words" && (p.Name == label || strings.HasPrefix(p.Name, label+" (") || p.Name == label+" *")
	})
	var field desktop.Position
	w.until("field "+label, func() bool {
		for _, p := range w.positions() {
			if p.Kind == "field" && p.Y > above.Y && p.Y-above.Y < 48 && math.Abs(float64((p.X-p.W/2)-(above.X-above.W/2))) < 24 {
				field = p
				return true
			}
		}
		return false
	})
	w.click(at(field))
	w.typing("field")
	w.key("ctrl+a")
	w.write(text)
	w.until(label+" says "+text, func() bool {
		for _, p := range w.positions() {
			if p.Kind == "field" && p.X == field.X && p.Y == field.Y && p.Name == text {
				return true
			}
		}
		return false
	})
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

// drag moves the pointer with a button down; keys are held meanwhile.
func (w *window) drag(x0, y0, x1, y1 int, keys ...string) {
	w.t.Helper()
	w.move(x0, y0)
	for _, k := range keys {
		w.do("keydown", k)
	}
	w.do("mousedown", "1")
	for i := 1; i <= 8; i++ {
		w.move(x0+(x1-x0)*i/8, y0+(y1-y0)*i/8)
	}
	w.do("mouseup", "1")
	for _, k := range keys {
		w.do("keyup", k)
	}
}

// connect drags a hop from node to node.
func (w *window) connect(from, to string) {
	w.t.Helper()
	n := w.happened("edit connect")
	x0, y0 := at(w.named("node", from))
	x1, y1 := at(w.named("node", to))
	w.drag(x0, y0, x1, y1, "shift")
	w.count("edit connect", n+1)
}

// place adds a transform by a click on the empty canvas and the context dialog.
func (w *window) place(dx, dy int, search, id string) {
	w.t.Helper()
	n := w.happened("context dialog")
	w.typing("canvas")
	w.key("Escape") // a click would only take the selection away
	w.click(w.canvas(dx, dy))
	w.count("context dialog", n+1)
	w.typing("field")
	w.write(search)
	w.find("the search says "+search, func(p desktop.Position) bool { return p.Kind == "field" && p.Name == search })
	w.key("Return")
	w.wait("edit add " + id)
}

// settings opens the form of a node, fills it in and accepts it.
func (w *window) settings(node, title string, fill func()) {
	w.t.Helper()
	dialogs, done := w.happened("dialog "+title), w.happened("settings "+node)
	w.doubleClick(at(w.named("node", node)))
	w.count("dialog "+title, dialogs+1)
	w.typing("field")
	fill()
	w.press("button", "OK")
	w.count("settings "+node, done+1)
}

// saveAs answers the dialog that asks for a path.
func (w *window) saveAs(path string) {
	w.t.Helper()
	w.key("ctrl+s")
	w.wait("dialog Save as")
	w.typing("field")
	w.key("ctrl+a")
	w.write(path)
	w.find("the path is written", func(p desktop.Position) bool { return p.Kind == "field" && p.Name == path })
	w.key("Return")
	w.wait("saved " + path)
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
