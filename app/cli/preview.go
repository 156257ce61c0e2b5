package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sluice/engine/batch"
	"sluice/engine/pipeline"
	"sluice/engine/transform"
)

type previewFlags struct {
	projectFlags
	transform  string
	rows       int
	runConfig  string
	parameters []string
}

func previewCommand(sh *shell) *cobra.Command {
	f := &previewFlags{}
	c := &cobra.Command{
		Use:               "preview FILE --transform NAME",
		Short:             "Show the rows that a transform gives, without writing anything",
		Args:              oneFile,
		ValidArgsFunction: hopFiles,
		RunE:              func(c *cobra.Command, args []string) error { return sh.preview(c.Context(), args[0], f) },
	}
	f.register(c)
	c.Flags().StringVar(&f.transform, "transform", "", "transform whose output is shown")
	c.Flags().IntVar(&f.rows, "rows", 100, "number of rows to show")
	c.Flags().StringVar(&f.runConfig, "run-config", "", "run configuration of the project")
	c.Flags().StringArrayVar(&f.parameters, "param", nil, "parameter as `NAME=VALUE`; may be given again")
	_ = c.MarkFlagRequired("transform")
	return c
}

func (sh *shell) preview(ctx context.Context, file string, f *previewFlags) error {
	params, err := assignments(f.parameters, "--param")
	if err != nil {
		return err
	}
	if f.rows < 1 {
		return fmt.Errorf("--rows %d: ask for at least one row", f.rows)
	}
	log, err := logger(sh.Err, f.logLevel)
	if err != nil {
		return err
	}
	if err := readable(file); err != nil {
		return &exitError{ExitUnusable, err}
	}
	ws, err := f.open(file, log)
	if err != nil {
		return &exitError{ExitUnusable, err}
	}
	s := &sampler{name: f.transform, limit: f.rows}
	e, err := ws.Runner.Prepare(ctx, pipeline.Run{
		File: file, RunConfig: f.runConfig, Scope: ws.Scope, Parameters: params,
		Until: f.transform, SuppressSinks: true, Sample: s.take,
	})
	if err != nil {
		return &exitError{codeOf(err), err}
	}
	s.exec = e
	for _, name := range e.Suppressed() {
		fmt.Fprintf(sh.Err, "Not written: %s (a preview never writes)\n", name)
	}
	result, err := e.Run(ctx)
	for _, b := range result.Rows {
		b.Release()
	}
	if err == nil {
		err = s.err
	}
	s.print(sh)
	return sh.outcome(result, err)
}

// sampler keeps the first rows of a transform as text and then stops the
// execution.
type sampler struct {
	name  string
	limit int
	exec  *pipeline.Execution

	mu     sync.Mutex // guards what follows
	header []string
	rows   [][]string
	err    error
}

func (s *sampler) take(name string, _ int, _ transform.Port, b *batch.Batch) {
	if !strings.EqualFold(name, s.name) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.header == nil {
		s.header = b.Schema.Names()
	}
	codecs, err := batch.DefaultSemantics(nil).Codecs(b.Schema)
	for i := range b.All() {
		if err != nil || len(s.rows) >= s.limit {
			break
		}
		var row []string
		row, err = texts(b, i, codecs)
		s.rows = append(s.rows, row)
	}
	if err != nil && s.err == nil {
		s.err = err
	}
	if len(s.rows) >= s.limit || err != nil {
		s.exec.Stop(false)
	}
}

func texts(b *batch.Batch, i int, codecs []*batch.Codec) ([]string, error) {
	row := make([]string, len(b.Cols))
	for k := range b.Cols {
		col, err := b.Col(k, codecs[k])
		if err != nil {
			return row, err
		}
		if col.IsNull(i) {
			row[k] = "<null>"
			continue
		}
		row[k] = string(codecs[k].AppendText(nil, col, i))
	}
	return row, nil
}

func (s *sampler) print(sh *shell) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := tabwriter.NewWriter(sh.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(s.header, "\t"))
	for _, r := range s.rows {
		fmt.Fprintln(w, strings.Join(r, "\t"))
	}
	if err := w.Flush(); err != nil && s.err == nil {
		s.err = errors.Join(s.err, err)
	}
}
