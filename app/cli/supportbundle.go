package cli

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sluice/engine/project"
	"sluice/engine/recorder"
	"sluice/storage"
	"sluice/storage/record"
)

func supportBundleCommand(sh *shell) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "support-bundle EXECUTION", Short: "Pack what is known of an execution, without secrets and rows, into a zip file", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return sh.withHistory(c.Context(), func(s storage.ExecutionStore) error { return sh.supportBundle(c.Context(), s, args[0], out) })
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "`file` to write; default: sluice-EXECUTION.zip")
	_ = c.MarkFlagFilename("output", "zip")
	return c
}

func (sh *shell) supportBundle(ctx context.Context, s storage.ExecutionStore, text, out string) (err error) {
	id, err := resolved(ctx, s, text)
	if err != nil {
		return err
	}
	head, err := s.Execution(ctx, id)
	if err != nil {
		return &exitError{ExitErrors, err}
	}
	if out == "" {
		out = "sluice-" + shortID(head.Root) + ".zip"
	}
	f, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &exitError{ExitUnusable, fmt.Errorf("%s exists; name another file with --output", out)}
	}
	if err != nil {
		return &exitError{ExitUnusable, err}
	}
	b := &bundle{zip: zip.NewWriter(f), store: s}
	err = errors.Join(b.fill(ctx, head), b.zip.Close(), f.Close())
	if err != nil {
		return &exitError{ExitErrors, errors.Join(err, os.Remove(out))}
	}
	fmt.Fprintf(sh.Out, "%s: %d files; look through them before you pass it on\n", out, b.files)
	return nil
}

// bundle is a support bundle while it is written.
type bundle struct {
	zip   *zip.Writer
	store storage.ExecutionStore
	files int
}

func (b *bundle) add(name string, data []byte) error {
	w, err := b.zip.Create(name)
	if err != nil {
		return err
	}
	b.files++
	_, err = w.Write(data)
	return err
}

func (b *bundle) json(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return b.add(name, data)
}

func (b *bundle) fill(ctx context.Context, head storage.Execution) error {
	r, err := record.Collect(ctx, b.store, head.Root)
	if err != nil {
		return err
	}
	for i := range r.Runs {
		r.Runs[i].Rows.Data = nil // rows are nobody's business
	}
	if err := b.add("versions.txt", fmt.Appendf(nil, "sluice %s\n%s %s/%s\n", Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)); err != nil {
		return err
	}
	if err := errors.Join(b.json("executions.json", r.Executions), b.json("actions.json", r.Runs), b.json("metrics.json", r.Metrics), b.json("snapshots.json", r.Snapshots)); err != nil {
		return err
	}
	for _, e := range r.Executions {
		if data := r.Definitions[e.Definition]; data != nil {
			name := fmt.Sprintf("definitions/%s-%s", shortID(e.ID), filepath.Base(e.File))
			if err := b.add(name, recorder.WithoutSecrets(data)); err != nil {
				return err
			}
		}
	}
	return errors.Join(b.log(ctx, head.Root), b.project(head))
}

func (b *bundle) log(ctx context.Context, root string) error {
	w, err := b.zip.Create("log.jsonl")
	if err != nil {
		return err
	}
	b.files++
	enc := json.NewEncoder(w)
	q := storage.LogQuery{Root: root}
	for more := true; more; {
		page, err := b.store.Logs(ctx, q)
		if err != nil {
			return err
		}
		for _, e := range page.Entries {
			if err := enc.Encode(e); err != nil {
				return err
			}
		}
		q.After, more = page.Next, page.More
	}
	return nil
}

// project adds the project's configuration and metadata as they are now. A project
// that is not here adds nothing.
func (b *bundle) project(head storage.Execution) error {
	home := ""
	for _, v := range head.Variables {
		if v.Name == project.VariableProjectHome {
			home = v.Value
		}
	}
	if home == "" {
		return nil
	}
	var names []string
	err := filepath.WalkDir(filepath.Join(home, "metadata"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.EqualFold(filepath.Ext(path), ".json") {
			names = append(names, path)
		}
		return nil // what cannot be read is left out
	})
	if err != nil {
		return err
	}
	for _, path := range slices.Concat(names, []string{filepath.Join(home, "project-config.json")}) {
		data, err := readSmall(path)
		if err != nil {
			continue
		}
		rel, err := filepath.Rel(home, path)
		if err != nil {
			continue
		}
		if err := b.add("project/"+filepath.ToSlash(rel), recorder.WithoutSecrets(data)); err != nil {
			return err
		}
	}
	return nil
}

// mostMetadata bounds one metadata file.
const mostMetadata = 1 << 20

func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostMetadata))
}
