package files

import (
	"context"
	"fmt"
	"strings"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// EvalFilesMetrics compares the number or the size of files. Folders themselves
// do not count.
var EvalFilesMetrics = action.Define[EvalFilesMetricsSettings](action.About{
	ID:        "EVAL_FILES_METRICS",
	Name:      "Evaluate file metrics",
	Category:  action.CategoryFlow,
	Summary:   "Compare the number or the size of files.",
	ReadsOnly: true,
})

// MetricSource says which files are looked at.
type MetricSource string

// Choices implements transform.Choices.
func (MetricSource) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: "files", Label: "the files of the table"}, {Code: "filenamesresult", Label: "the result files"}, {Code: "previousresult", Label: "files of the result rows"},
	}
}

// Metric is what is compared.
type Metric string

// Choices implements transform.Choices.
func (Metric) Choices() []transform.Choice {
	return []transform.Choice{{Code: "size", Label: "size"}, {Code: "count", Label: "number of files"}}
}

// SizeUnit is the unit of a size.
type SizeUnit string

// Choices implements transform.Choices.
func (SizeUnit) Choices() []transform.Choice {
	return []transform.Choice{{Code: "bytes", Label: "bytes"}, {Code: "kbytes", Label: "KiB"}, {Code: "mbytes", Label: "MiB"}, {Code: "gbytes", Label: "GiB"}}
}

var sizeUnits = map[SizeUnit]float64{"bytes": 1, "kbytes": 1 << 10, "mbytes": 1 << 20, "gbytes": 1 << 30}

// EvalFilesMetricsSettings lists the settings in the order the form shows them.
type EvalFilesMetricsSettings struct {
	Source       MetricSource           `hop:"source_files" default:"files" label:"Files"`
	Files        []MetricFiles          `hop:"fields>field"`
	ResultMask   transform.Expr[string] `hop:"result_filenames_wildcard" label:"Mask of the result files"`
	FieldFile    transform.Expr[string] `hop:"Result_field_file" form:"field" label:"Field of file or folder"`
	FieldMask    transform.Expr[string] `hop:"Result_field_wildcard" form:"field" label:"Field of the mask"`
	FieldDeep    transform.Expr[string] `hop:"Result_field_includesubfolders" form:"field" label:"Field of include subfolders"`
	Metric       Metric                 `hop:"evaluation_type" default:"size" label:"Compare"`
	Scale        SizeUnit               `hop:"scale" default:"bytes" label:"Unit"`
	Condition    action.NumberCondition `hop:"successnumbercondition" default:"greater" label:"Success when it"`
	CompareValue transform.Expr[string] `hop:"comparevalue" label:"Value"`
	Min          transform.Expr[string] `hop:"minvalue"`
	Max          transform.Expr[string] `hop:"maxvalue"`
}

// MetricFiles are files to look at.
type MetricFiles struct {
	Name       transform.Expr[string] `hop:"source_filefolder" form:"file" required:"true" label:"File or folder"`
	Mask       transform.Expr[string] `hop:"wildcard" help:"Regular expression on the base name"`
	Subfolders transform.Expr[bool]   `hop:"include_subFolders" default:"N" label:"Include subfolders"`
}

// measure adds up files.
type measure struct{ count, size float64 }

// Run implements action.Settings.
func (s *EvalFilesMetricsSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	var m measure
	var err error
	switch s.Source {
	case "filenamesresult":
		err = s.resultFiles(ctx, env, r, &m)
	case "previousresult":
		err = s.resultRows(ctx, env, r, &m)
	default:
		err = s.table(ctx, env, &m)
	}
	if err != nil {
		return err
	}
	text, err := texts(env, s.CompareValue, s.Min, s.Max)
	if err != nil {
		return err
	}
	value, unit := m.count, 1.0
	if s.Metric != "count" {
		value, unit = m.size, sizeUnits[s.Scale]
	}
	parse := func(t string) (float64, error) {
		n, err := action.ParseNumber(t)
		return n * unit, err
	}
	if r.OK, err = action.CompareTo(s.Condition, value, text[0], text[1], text[2], parse, batch.CompareFloats); err != nil {
		return err
	}
	env.Log.Info("Measured files", "files", int64(m.count), "bytes", int64(m.size), "result", r.OK)
	return nil
}

func (s *EvalFilesMetricsSettings) table(ctx context.Context, env *action.Env, m *measure) error {
	for _, f := range s.Files {
		text, err := texts(env, f.Name, f.Mask)
		if err != nil {
			return err
		}
		deep, err := f.Subfolders.Eval(env)
		if err != nil {
			return err
		}
		if err := m.add(ctx, env, text[0], text[1], deep); err != nil {
			return err
		}
	}
	return nil
}

// add measures a file or the files of a folder; what is not there is nothing.
func (m *measure) add(ctx context.Context, env *action.Env, name, pattern string, deep bool) error {
	match, err := newMatcher(pattern, "")
	if err != nil {
		return err
	}
	info, ok, err := found(ctx, env, name)
	if err != nil {
		return err
	}
	if !ok {
		env.Log.Info("There is no such file or folder", "file", name)
		return nil
	}
	list, err := matching(ctx, env, info, match, deep)
	if err != nil {
		return fmt.Errorf("files of %s: %w", name, err)
	}
	for _, f := range list {
		m.count++
		m.size += float64(f.Size)
	}
	return nil
}

func (s *EvalFilesMetricsSettings) resultFiles(ctx context.Context, env *action.Env, r *action.Result, m *measure) error {
	pattern, err := s.ResultMask.Eval(env)
	if err != nil {
		return err
	}
	match, err := newMatcher(pattern, "")
	if err != nil {
		return err
	}
	for _, f := range r.ResultFiles {
		info, ok, err := found(ctx, env, f.Path)
		if err != nil {
			return err
		}
		if ok && !info.Folder && match.matches(info.Name) {
			m.count++
			m.size += float64(info.Size)
		}
	}
	return nil
}

func (s *EvalFilesMetricsSettings) resultRows(ctx context.Context, env *action.Env, r *action.Result, m *measure) error {
	names, err := texts(env, s.FieldFile, s.FieldMask, s.FieldDeep)
	if err != nil {
		return err
	}
	for _, b := range r.Rows {
		if b.Rows() == 0 {
			continue
		}
		cols := make([]int, len(names))
		for i, n := range names {
			if cols[i] = b.Schema.Index(n); n != "" && cols[i] < 0 {
				return &engine.Error{Field: n, Message: "this field is not in the result rows", Hint: "they have " + strings.Join(b.Schema.Names(), ", ")}
			}
		}
		if cols[0] < 0 {
			return &engine.Error{Message: "no field of the file is named", Hint: "name the field of the result rows that holds files or folders"}
		}
		codecs, err := env.Semantics.Codecs(b.Schema)
		if err != nil {
			return err
		}
		for i := range b.All() {
			row := [3]string{}
			for k, c := range cols {
				if c < 0 {
					continue
				}
				col, err := b.Col(c, codecs[c])
				if err != nil {
					return err
				}
				row[k] = string(codecs[c].AppendCompatible(nil, col.Value(i)))
			}
			if err := m.add(ctx, env, row[0], row[1], isYes(row[2])); err != nil {
				return err
			}
		}
	}
	return nil
}

func isYes(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "y", "yes", "true", "t":
		return true
	}
	return false
}
