package text

import (
	"context"
	"errors"
	"fmt"
	"io"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/transform"
)

// textReader turns the files of Text file input into batches.
type textReader struct {
	env         *transform.Env
	settings    *TextFileInputSettings
	schema      *batch.Schema
	passed      int // fields of the input that come first
	fields      []inputField
	fixed       []fixedField
	repeat      []bool
	repeats     bool
	extras      []extraField
	filters     []lineFilter
	separator   []byte
	quote       []byte
	escape      []byte
	charset     charset
	compression files.Compression

	blocks     blocks
	blockBytes int // of a block, in tests; 0: blockBytes
	repairer
}

// textFile is one file to read, and the input row (a batch of one row) that named
// it, nil when the row is not passed on.
type textFile struct {
	info files.Info
	row  *batch.Batch
}

// splits says whether every line stands for itself, so that blocks may be parsed
// apart.
func (r *textReader) splits() bool {
	s := r.settings
	return !s.Footer && !s.Wrapped && !s.Paged && s.Limit <= 0 && !r.repeats && len(r.filters) == 0 &&
		(!s.EnclosureBreaks || len(r.quote) == 0) && !(s.ErrorIgnored && s.SkipBadFiles)
}

// textSplitter reads files whose lines stand for themselves.
type textSplitter struct {
	transform.Producer
	*textReader
}

// Split implements transform.Splitter.
func (t *textSplitter) Split(ctx context.Context, submit func(transform.Morsel) error) error {
	var last *turn
	return t.listed(ctx, func(f *textFile) error { return t.blocksOf(ctx, f, &last, submit) })
}

// Produce implements transform.Source.
func (t *textSplitter) Produce(ctx context.Context, emit transform.Emit) error {
	return t.Split(ctx, func(m transform.Morsel) error { return m(ctx, emit) })
}

// textSource reads files line by line.
type textSource struct {
	transform.Producer
	*textReader
}

// Produce implements transform.Source.
func (t *textSource) Produce(ctx context.Context, emit transform.Emit) error {
	s := newLineRows(t.textReader, emit)
	defer s.out.release()
	return t.listed(ctx, func(f *textFile) error { return s.file(ctx, f) })
}

// afterInput drops the rows of an input that the settings do not use, then
// produces its own.
type afterInput struct {
	transform.Collector
	source transform.Source
}

// Run implements transform.Stream.
func (a *afterInput) Run(ctx context.Context, in []transform.Reader, emit transform.Emit) error {
	for _, r := range in {
		for {
			b, err := r.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			b.Release()
		}
	}
	return a.source.Produce(ctx, emit)
}

// textFromRows reads the files that its input names, after the last input row.
type textFromRows struct {
	transform.Collector
	*textReader
	field int
}

// Run implements transform.Stream.
func (t *textFromRows) Run(ctx context.Context, in []transform.Reader, emit transform.Emit) error {
	list, err := t.named(ctx, in)
	defer func() {
		for _, f := range list {
			if f.row != nil {
				f.row.Release()
			}
		}
	}()
	if err != nil {
		return err
	}
	s := newLineRows(t.textReader, emit)
	defer s.out.release()
	for i := range list {
		if err := t.skippable(list[i].info.Path, s.file(ctx, &list[i])); err != nil {
			return err
		}
	}
	return nil
}

// named reads the input and gives the files of its rows.
func (t *textFromRows) named(ctx context.Context, in []transform.Reader) ([]textFile, error) {
	var list []textFile
	for _, r := range in {
		codec, err := t.env.Semantics.Codec(&r.Schema().Fields[t.field])
		if err != nil {
			return list, err
		}
		for {
			b, err := r.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				list, err = t.filesOf(ctx, list, b, codec)
				b.Release()
			}
			if err != nil {
				return list, err
			}
		}
	}
	return list, nil
}

func (t *textFromRows) filesOf(ctx context.Context, list []textFile, b *batch.Batch, codec *batch.Codec) ([]textFile, error) {
	col, err := b.Col(t.field, codec)
	if err != nil {
		return list, err
	}
	for i := range b.All() {
		if t.env.Semantics.IsNull(col, i) {
			continue
		}
		name := string(codec.AppendText(nil, col, i))
		info, err := t.env.Files.Stat(ctx, name)
		if err != nil {
			if err := t.skippable(name, badFile{fmt.Errorf("look at %s: %w", name, err)}); err != nil {
				return list, err
			}
			continue
		}
		f := textFile{info: info}
		if t.passed > 0 {
			f.row = b.Gather([]int32{int32(i)})
		}
		list = append(list, f)
	}
	return list, nil
}

// listed calls read for the files that the settings list, in their order.
func (r *textReader) listed(ctx context.Context, read func(*textFile) error) error {
	list, err := findAll(ctx, r.env, r.settings.Files, filesOnly)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return &engine.Error{Message: "no file was found", Hint: "correct the file names and masks"}
	}
	for _, info := range list {
		select {
		case <-r.env.Stopping:
			return nil
		default:
		}
		if err := r.skippable(info.Path, read(&textFile{info: info})); err != nil {
			return err
		}
	}
	return nil
}

// badFile marks an error that belongs to a file, not to the execution.
type badFile struct{ error }

func (b badFile) Unwrap() error { return b.error }

// skippable drops the error of a file that cannot be read when such files are to
// be skipped.
func (r *textReader) skippable(name string, err error) error {
	var bad badFile
	if !errors.As(err, &bad) || !r.settings.ErrorIgnored || !r.settings.SkipBadFiles {
		return err
	}
	r.env.Log.Warn("File was skipped", "transform", r.env.Transform, "file", name, "err", err)
	return nil
}

// open gives a file as UTF-8 text.
func (r *textReader) open(ctx context.Context, f *textFile) (*openText, error) {
	name := f.info.Path
	file, err := r.env.Files.Open(ctx, name)
	if err != nil {
		return nil, badFile{fmt.Errorf("open %s: %w", name, err)}
	}
	unpacked, err := r.compression.Reader(file)
	if err != nil {
		return nil, errors.Join(badFile{fmt.Errorf("unpack %s: %w", name, err)}, file.Close())
	}
	text := &openText{unpacked: unpacked, file: file}
	if text.Reader, err = r.charset.reader(unpacked); err != nil {
		return nil, errors.Join(badFile{fmt.Errorf("read %s: %w", name, err)}, text.Close())
	}
	if r.settings.AddToResult {
		addResultFile(ctx, r.env, name, "File was read by a Text file input transform")
	}
	return text, nil
}

// openText is the text of a file that is being read.
type openText struct {
	io.Reader
	unpacked, file io.Closer
}

func (t *openText) Close() error { return errors.Join(t.unpacked.Close(), t.file.Close()) }

// newLineCutter cuts a text into blocks of whole lines.
func (r *textReader) newLineCutter(text io.Reader) *cutter {
	c := newCutter(text, dialect{separator: []byte{','}}, 1, &r.blocks)
	c.lfOnly = r.settings.Format == "mixed"
	if r.blockBytes > 0 {
		c.size = r.blockBytes
	}
	return c
}

// blocksOf cuts a file into blocks and submits the parsing of each. last is the
// turn of the block before, also of the file before unless rows are numbered by
// file.
func (r *textReader) blocksOf(ctx context.Context, f *textFile, last **turn, submit func(transform.Morsel) error) error {
	text, err := r.open(ctx, f)
	if err != nil {
		return err
	}
	defer text.Close()
	if r.settings.RowNumberByFile {
		*last = nil
	}
	skip := 0
	if r.settings.Header {
		skip = r.settings.HeaderLines
	}
	c := r.newLineCutter(text)
	for {
		select {
		case <-r.env.Stopping:
			return nil
		default:
		}
		b, err := c.next(ctx)
		if errors.Is(err, io.EOF) {
			r.env.Counters.Updated.Add(1)
			return nil
		}
		if err != nil {
			return badFile{fmt.Errorf("read %s: %w", f.info.Path, err)}
		}
		w := &textBlock{reader: r, file: f, block: b, before: *last}
		r.repair(r.env, &w.block)
		if w.from, err = r.skipLines(&w.block, &skip); err != nil {
			return badFile{fmt.Errorf("read %s: %w", f.info.Path, err)}
		}
		if r.numbered() {
			w.after = newTurn()
			*last = w.after
		}
		if err := submit(w.parse); err != nil {
			return err
		}
	}
}

func (r *textReader) numbered() bool {
	return r.settings.IncludeRowNumber && r.settings.RowNumberField != ""
}

// skipLines skips header lines at the start of a block and counts skip down.
func (r *textReader) skipLines(b *block, skip *int) (int, error) {
	pos := 0
	for *skip > 0 && pos < b.n {
		end, next, err := r.nextLine(b.data, b.n, pos)
		if err != nil {
			return pos, err
		}
		if !r.settings.NoEmptyLines || len(r.clean(b.data[pos:end])) > 0 {
			*skip--
			r.env.Counters.Input.Add(1)
		}
		pos = next
	}
	return pos, nil
}
