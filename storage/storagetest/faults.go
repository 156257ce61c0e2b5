package storagetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"sluice/storage"
)

// ErrInjected is what a Faulty remote returns unless told otherwise.
var ErrInjected = errors.New("injected fault")

// Mode is what happens to the call that fails.
type Mode int

const (
	// Before fails without any effect.
	Before Mode = iota
	// After has its full effect, and the answer is lost.
	After
	// Torn stores the first half of a Put: under a temporary name where Put is
	// atomic, under the final name elsewhere. Other calls fail as with Before.
	Torn
	// Late fails, and the Put arrives three calls later, as that of a
	// connection which was given up. Other calls fail as with Before.
	Late
)

// Modes lists all modes.
var Modes = []Mode{Before, After, Torn, Late}

// String is the name of the mode.
func (m Mode) String() string { return [...]string{"before", "after", "torn", "late"}[m] }

// lateCalls is after how many further calls a Late Put arrives.
const lateCalls = 3

// Faults says what goes wrong. Calls are counted from 1, over all methods.
type Faults struct {
	FailAt int // 0 never
	Mode   Mode
	// Crash makes every later call fail without effect: the process has died
	// or the network is gone.
	Crash bool
	Err   error // nil is ErrInjected
	// Direct remotes have neither atomic puts nor conditional ones.
	Direct bool
	// Unconditional remotes have no conditional puts.
	Unconditional bool
	// Delay is slept before each call: use it under testing/synctest.
	Delay time.Duration
	// Hook, when not nil, runs before each call outside of any lock, with the
	// number, method and name of the call.
	Hook func(call int, method, name string)
}

// Faulty is a remote that fails on purpose.
type Faulty struct {
	remote storage.Remote

	mu     sync.Mutex
	faults Faults
	calls  int
	dead   bool
	late   []func()
	due    []int
}

// NewFaulty wraps a remote.
func NewFaulty(r storage.Remote, f Faults) *Faulty {
	if f.Err == nil {
		f.Err = ErrInjected
	}
	return &Faulty{remote: r, faults: f}
}

// Calls is how many calls were made.
func (f *Faulty) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// Settle lets what is still on its way arrive, also after a crash.
func (f *Faulty) Settle() {
	f.mu.Lock()
	late := f.late
	f.late, f.due = nil, nil
	f.mu.Unlock()
	for _, arrive := range late {
		arrive()
	}
}

// next counts a call and gives the mode in which it fails, if it does.
func (f *Faulty) next(ctx context.Context, method, name string) (fails bool, mode Mode, err error) {
	f.mu.Lock()
	f.calls++
	call := f.calls
	hook, delay := f.faults.Hook, f.faults.Delay
	var arrived []func()
	for len(f.due) > 0 && f.due[0] <= call {
		arrived = append(arrived, f.late[0])
		f.late, f.due = f.late[1:], f.due[1:]
	}
	f.mu.Unlock()
	for _, arrive := range arrived {
		arrive()
	}
	if hook != nil {
		hook(call, method, name)
	}
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return true, Before, context.Cause(ctx)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	failure := fmt.Errorf("%s %s (call %d): %w", method, name, call, f.faults.Err)
	if f.dead {
		return true, Before, failure
	}
	if call != f.faults.FailAt {
		return false, 0, nil
	}
	f.dead = f.faults.Crash
	return true, f.faults.Mode, failure
}

// Capabilities are those of the remote, less what Direct takes away.
func (f *Faulty) Capabilities() storage.Capabilities {
	c := f.remote.Capabilities()
	if f.faults.Direct {
		c.AtomicPut = false
	}
	return c
}

// Put may fail.
func (f *Faulty) Put(ctx context.Context, name string, content storage.Content) error {
	return f.put(ctx, "Put", name, content, f.remote.Put)
}

// PutIfAbsent may fail.
func (f *Faulty) PutIfAbsent(ctx context.Context, name string, content storage.Content) error {
	c, ok := f.remote.(storage.ConditionalPutter)
	if !ok || f.faults.Direct || f.faults.Unconditional {
		return errors.ErrUnsupported
	}
	return f.put(ctx, "PutIfAbsent", name, content, c.PutIfAbsent)
}

func (f *Faulty) put(ctx context.Context, method, name string, content storage.Content, put func(context.Context, string, storage.Content) error) error {
	fails, mode, err := f.next(ctx, method, name)
	if !fails {
		return put(ctx, name, content)
	}
	switch mode {
	case Before:
	case After:
		_ = put(ctx, name, content)
	case Torn:
		if !f.faults.Direct {
			name = storage.TemporaryName(name, "torn", 1)
		}
		_ = f.remote.Put(ctx, name, storage.Content{Body: content.Body, Size: content.Size / 2})
	case Late:
		f.mu.Lock()
		f.late = append(f.late, func() { _ = put(context.WithoutCancel(ctx), name, content) })
		f.due = append(f.due, f.calls+lateCalls)
		f.mu.Unlock()
	}
	return err
}

// Open may fail.
func (f *Faulty) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	if fails, _, err := f.next(ctx, "Open", name); fails {
		return nil, err
	}
	return f.remote.Open(ctx, name, offset, length)
}

// Stat may fail.
func (f *Faulty) Stat(ctx context.Context, name string) (storage.Object, error) {
	if fails, _, err := f.next(ctx, "Stat", name); fails {
		return storage.Object{}, err
	}
	return f.remote.Stat(ctx, name)
}

// List may fail.
func (f *Faulty) List(ctx context.Context, dir string) ([]storage.Object, error) {
	if fails, _, err := f.next(ctx, "List", dir); fails {
		return nil, err
	}
	return f.remote.List(ctx, dir)
}

// Delete may fail.
func (f *Faulty) Delete(ctx context.Context, name string) error {
	fails, mode, err := f.next(ctx, "Delete", name)
	if !fails {
		return f.remote.Delete(ctx, name)
	}
	if mode == After {
		_ = f.remote.Delete(ctx, name)
	}
	return err
}

// StoredHash may fail.
func (f *Faulty) StoredHash(ctx context.Context, name string) (string, error) {
	if fails, _, err := f.next(ctx, "StoredHash", name); fails {
		return "", err
	}
	h, ok := f.remote.(storage.Hasher)
	if !ok {
		return "", errors.ErrUnsupported
	}
	return h.StoredHash(ctx, name)
}

// TryLock never fails by itself: a lock is the operating system's.
func (f *Faulty) TryLock(ctx context.Context, name string) (release func() error, err error) {
	l, ok := f.remote.(storage.Locker)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return l.TryLock(ctx, name)
}
