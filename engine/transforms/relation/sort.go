package relation

import (
	"context"
	"fmt"
	"iter"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// SortRows orders its whole input by one or more keys and emits nothing until the
// input ends. The sort is stable and nulls come first, as in Hop. Sorted runs stay
// in memory as long as the execution's memory budget allows and go to temporary
// files beyond it: memory is O(budget), disk O(input).
//
// The budget is the real limit. sort_size only says how many rows one sorted run
// has; a value below minRunRows would make more runs than help.
var SortRows = transform.Define[SortRowsSettings](transform.About{
	ID:       "SortRows",
	Name:     "Sort rows",
	Category: transform.Reshape,
	Summary:  "Order rows by field values.",
	RowNeutral: []string{
		"directory", "sort_prefix", "sort_size", "free_memory", "compress", "compress_variables",
	},
})

// SortRowsSettings lists the settings in the order the form shows them.
type SortRowsSettings struct {
	Keys              []SortKey           `hop:"fields>field" required:"true" help:"Most significant first"`
	Unique            bool                `hop:"unique_rows" label:"Only pass unique rows" help:"Keep the first of the rows whose keys are equal"`
	SortSize          transform.Expr[int] `hop:"sort_size" default:"1000000" unit:"rows" advanced:"true" help:"Most rows of one sorted run; the memory budget is the limit of what is kept in memory"`
	Directory         string              `hop:"directory" default:"%%java.io.tmpdir%%" form:"folder" advanced:"true" help:"Not used: temporary files belong to the execution"`
	Prefix            string              `hop:"sort_prefix,alias=prefix" default:"out" advanced:"true"`
	FreeMemory        string              `hop:"free_memory" advanced:"true"`
	Compress          bool                `hop:"compress" advanced:"true"`
	CompressVariables string              `hop:"compress_variables,alias=compress_variable" advanced:"true"`
}

// SortKey is one row of the key table.
type SortKey struct {
	Field            string `hop:"name" form:"field" required:"true"`
	Ascending        bool   `hop:"ascending" default:"true"`
	CaseSensitive    bool   `hop:"case_sensitive"`
	CollatorEnabled  bool   `hop:"collator_enabled" advanced:"true"`
	CollatorStrength int    `hop:"collator_strength" default:"0" advanced:"true"`
	Presorted        bool   `hop:"presorted" advanced:"true"`
}

const (
	defaultRunRows = 1_000_000
	minRunRows     = 1 << 16
	runBytes       = 64 << 20 // of a run, while there is memory
)

// Output implements transform.Settings.
func (s *SortRowsSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(l.Main())
}

// Check implements transform.Checker.
func (s *SortRowsSettings) Check(transform.Links, transform.Design) iter.Seq[transform.Problem] {
	return func(yield func(transform.Problem) bool) {
		for i, k := range s.Keys {
			if k.CollatorEnabled && !yield(transform.Warnf(fmt.Sprintf("fields>field[%d]>collator_enabled", i+1),
				"field %q is ordered by its characters; collators are not used", k.Field)) {
				return
			}
		}
	}
}

// Start implements transform.Settings.
func (s *SortRowsSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	if !l.HasMain() {
		return &sortProcessor{}, nil
	}
	var fields []keyField
	for _, k := range s.Keys {
		i, err := fieldIndex(l.Main(), k.Field)
		if err != nil {
			return nil, err
		}
		fields = append(fields, keyField{index: i, fold: !k.CaseSensitive, desc: !k.Ascending})
	}
	order, err := newKeys(env.Semantics, l.Main(), fields)
	if err != nil {
		return nil, err
	}
	size, err := s.SortSize.Or(env, defaultRunRows)
	if err != nil {
		return nil, fmt.Errorf("sort size: %w", err)
	}
	if size <= 0 || size > defaultRunRows {
		size = defaultRunRows
	}
	return &sortProcessor{env: env, keys: order, unique: s.Unique, runRows: max(size, minRunRows)}, nil
}

type sortProcessor struct {
	transform.Collector
	transform.TakesRaw
	env     *transform.Env
	keys    *keys
	unique  bool
	runRows int
}

// Run implements transform.Stream.
func (p *sortProcessor) Run(ctx context.Context, in []transform.Reader, emit transform.Emit) error {
	if len(in) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	s, err := newSorter(ctx, p, in[0].Schema())
	if err != nil {
		cancel(nil)
		return err
	}
	defer s.close() // after cancel: the workers must have ended before their runs are taken away
	defer cancel(nil)
	if err := s.fill(ctx, in[0]); err != nil {
		return err
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	m, err := newRowMerger(ctx, s, s.runs, outputRows(s.bytes, s.rows))
	if err != nil {
		return err
	}
	defer m.close()
	reader := &rowReader{rowLayout: s.layout}
	return m.each(func(rows []storedRow, _ []head) error {
		b, err := reader.batch(rows)
		if err != nil {
			return err
		}
		return emit(transform.Main, b)
	})
}

// outputRows is how many rows of an average size make a batch.
func outputRows(bytes, rows int64) int {
	if rows == 0 || bytes/rows == 0 {
		return batch.MaxRows
	}
	return int(min(batch.MaxRows, max(1, batch.SoftBytes/(bytes/rows))))
}

// Needs implements transform.FieldUser.
func (s *SortRowsSettings) Needs(l transform.Links, out []bool) []bool {
	var used []string
	for _, k := range s.Keys {
		used = append(used, k.Field)
	}
	return transform.PassingNeeds(l, out, used...)
}
