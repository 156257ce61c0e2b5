//go:build integration

package scenario_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shopRemote is what the project calls the object store.
const shopRemote = "shopstore"

// objectStore makes the S3 server of the integration run a remote by name, as a
// pod would have it in its environment, and gives a fresh location there.
func (s *shop) objectStore() string {
	s.t.Helper()
	text := os.Getenv("SLUICE_TEST_S3")
	if text == "" {
		s.t.Fatal("SLUICE_TEST_S3 is not set; `make test-integration` starts the servers")
	}
	head, bucket, ok := strings.Cut(strings.TrimPrefix(text, ":"), "true:")
	if !ok {
		s.t.Fatalf("unexpected connection string for the object store")
	}
	kind, options, _ := strings.Cut(head+"true", ",")
	s.t.Setenv("RCLONE_CONFIG_"+strings.ToUpper(shopRemote)+"_TYPE", kind)
	for o := range strings.SplitSeq(options, ",") {
		name, value, _ := strings.Cut(o, "=")
		s.t.Setenv("RCLONE_CONFIG_"+strings.ToUpper(shopRemote)+"_"+strings.ToUpper(name), strings.Trim(value, `"`))
	}
	return fmt.Sprintf("%s:%s/lost-%d", shopRemote, bucket, time.Now().UnixNano())
}

// TestTheLostPodOnS3: the pod is killed behind the seal, its disk is gone, and an
// installation that knows nothing but the object store replays.
func TestTheLostPodOnS3(t *testing.T) {
	s := newShop(t)
	remote := s.objectStore()
	t.Setenv("SLUICE_HEARTBEAT", "300ms")
	s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "orders", "--location", remote).want(ready)
	waiting := transformOf("keep", "Delay", "    <timeout>3600</timeout>\n    <scaletime>seconds</scaletime>")
	s.edit("load.hpl", keep, waiting)
	s.write("night.hwf", workflowOf("Start>day day+load load+after", sets("day", "DAY", "monday"), runs("load", "load.hpl"), writes("after", "after.txt", "done on ${DAY}")))
	id := s.killedBehindTheSeal(s.path("night.hwf"), remote)
	if err := os.RemoveAll(s.data); err != nil {
		t.Fatal(err)
	}
	s.use(t.TempDir())
	t.Setenv("SLUICE_CACHE", t.TempDir())
	s.sourceGone()
	s.edit("load.hpl", waiting, keep)
	s.warehouseUp()
	p := s.preflight(needsAck, id, "--record", remote, "--project", s.dir)
	p.wantSteps(t, "day=REUSE", "load=RUN", "orders=REUSE", "keep=RUN", "target=RUN", "after=RUN")
	p.wantCheck(t, "second-write:target", "WARN", "number unknown")
	s.sluice("replay", id, "--record", remote, "--project", s.dir, "--ack", "second-write").want(ready)
	s.wantLoaded(original)
	if got := s.text("after.txt"); got != "done on monday" {
		t.Errorf("after.txt says %q", got)
	}
	// A third installation sees that it was done.
	s.use(t.TempDir())
	s.preflight(needsAck, id, "--record", remote, "--project", s.dir).wantCheck(t, "replayed", "WARN")
}

// killedBehindTheSeal runs a file in a process of its own, kills it once its gate is
// sealed, and gives the execution's id.
func (s *shop) killedBehindTheSeal(file, remote string) string {
	s.t.Helper()
	c := s.process("run", file)
	var out strings.Builder
	c.Stderr = &out
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	id := ""
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		list := s.sluice("snapshots", "list", "--location", remote, "--json")
		if strings.Contains(list.out, "SEALED") {
			id = s.newest()
			break
		}
		if time.Now().After(end) {
			_ = c.Process.Kill()
			_ = c.Wait() // out is complete then
			s.t.Fatalf("nothing was sealed:\n%s\n%s", list.out+list.errs, out.String())
		}
	}
	time.Sleep(time.Second) // the record follows the seal; a kill in between is another test
	if err := c.Process.Signal(syscall.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
	if err := c.Wait(); err == nil {
		s.t.Fatal("it ended by itself")
	} else if _, ok := errors.AsType[*exec.ExitError](err); !ok {
		s.t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(s.data, "control.db")); err != nil {
		s.t.Fatal(err)
	}
	return id
}
