package files

import (
	"context"
	"time"

	"sluice/engine/action"
	"sluice/engine/files"
	"sluice/engine/transform"
)

// WaitForFile waits until a file is there and, on request, has stopped growing.
var WaitForFile = action.Define[WaitForFileSettings](action.About{
	ID:        "WAIT_FOR_FILE",
	Name:      "Wait for file",
	Category:  action.CategoryFlow,
	Summary:   "Wait until a file is there.",
	ReadsOnly: true,
})

// WaitForFileSettings lists the settings in the order the form shows them.
type WaitForFileSettings struct {
	File      transform.Expr[string] `hop:"filename" form:"file" required:"true"`
	Timeout   transform.Expr[int64]  `hop:"maximum_timeout" default:"0" unit:"s" label:"Longest wait" help:"0 waits without end"`
	Cycle     transform.Expr[int64]  `hop:"check_cycle_time" default:"60" unit:"s" label:"Time between looks"`
	OnTimeout bool                   `hop:"success_on_timeout" label:"Success also when the time is over"`
	SizeCheck bool                   `hop:"file_size_check" label:"Wait until it has stopped growing"`
	AddResult bool                   `hop:"add_filename_result" label:"Add to the result files"`
}

const defaultCycle = 60 * time.Second

// Run implements action.Settings.
func (s *WaitForFileSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	name, err := named(env, s.File, "file")
	if err != nil {
		return err
	}
	seconds, err := s.Timeout.Or(env, 0)
	if err != nil {
		return err
	}
	cycleSeconds, err := s.Cycle.Or(env, 0)
	if err != nil {
		return err
	}
	cycle := time.Duration(cycleSeconds) * time.Second
	if cycle < time.Second {
		cycle = defaultCycle
	}
	info, ok, err := await(ctx, env, name, time.Duration(max(seconds, 0))*time.Second, cycle)
	if err != nil {
		return err
	}
	if !ok {
		env.Log.Info("The file did not come in time", "file", name, "success", s.OnTimeout)
		r.OK = s.OnTimeout
		return nil
	}
	if s.SizeCheck && !info.Folder {
		if err := settled(ctx, env, name, info.Size, cycle); err != nil {
			return err
		}
	}
	if s.AddResult && !info.Folder {
		r.AddFile(env.ResultFile(name, action.FileGeneral))
	}
	r.Succeed()
	return nil
}

// await looks for the file again and again; limit 0 is none.
func await(ctx context.Context, env *action.Env, name string, limit, cycle time.Duration) (files.Info, bool, error) {
	var waited time.Duration
	for {
		info, ok, err := found(ctx, env, name)
		if err != nil || ok {
			return info, ok, err
		}
		pause := cycle
		if limit > 0 {
			if waited >= limit {
				return info, false, nil
			}
			pause = min(pause, limit-waited)
		}
		if err := sleep(ctx, pause); err != nil {
			return info, false, err
		}
		waited += pause
	}
}

// settled waits until a file has the same size as one look before.
func settled(ctx context.Context, env *action.Env, name string, size int64, cycle time.Duration) error {
	for {
		if err := sleep(ctx, cycle); err != nil {
			return err
		}
		info, err := env.Files.Stat(ctx, name)
		if err != nil {
			return err
		}
		if info.Size == size {
			return nil
		}
		size = info.Size
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
