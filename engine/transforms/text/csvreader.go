package text

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// errCSV is Hop's code for rows whose text cannot be converted.
const errCSV = "CSVINPUT001"

// csvReader turns files into batches.
type csvReader struct {
	env       *transform.Env
	dialect   dialect
	charset   charset
	schema    *batch.Schema
	fields    []inputField
	columns   int // of the file
	header    bool
	named     bool // a column for the file name follows those of the file
	numbered  bool // a column for the row number comes last
	addResult bool

	blocks  blocks
	parsers sync.Pool
	repairer
}

// csvSource reads one file, or none in a copy that has nothing to do.
type csvSource struct {
	transform.Producer
	*csvReader
	names []string
}

// Prune implements transform.Pruner. Only texts and values that would stay text
// may be left out: converting the others could fail.
func (s *csvSource) Prune(wanted []bool) {
	for i := range s.fields {
		f := &s.fields[i]
		f.skip = !wanted[i] && (f.raw || f.field.Type == batch.String)
	}
}

// Split implements transform.Splitter.
func (s *csvSource) Split(ctx context.Context, submit func(transform.Morsel) error) error {
	for _, name := range s.names {
		if err := s.file(ctx, name, submit); err != nil {
			return err
		}
	}
	return nil
}

// Produce implements transform.Source.
func (s *csvSource) Produce(ctx context.Context, emit transform.Emit) error {
	return s.Split(ctx, func(m transform.Morsel) error { return m(ctx, emit) })
}

// csvFromRows reads the files that its input names.
type csvFromRows struct {
	transform.Collector
	*csvReader
	field int
}

// Run implements transform.Stream.
func (s *csvFromRows) Run(ctx context.Context, in []transform.Reader, emit transform.Emit) error {
	names, err := readNames(ctx, s.env, in, s.field)
	if err != nil {
		return err
	}
	rows := 0
	counted := func(port transform.Port, b *batch.Batch) error {
		rows += b.Rows()
		return emit(port, b)
	}
	for _, name := range names {
		err := s.file(ctx, name, func(m transform.Morsel) error {
			before := rows
			return shiftRow(m(ctx, counted), before)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// shiftRow adds the rows that came before to the row number of an error.
func shiftRow(err error, before int) error {
	var e *engine.Error
	if errors.As(err, &e) && e.Row > 0 {
		e.Row += int64(before)
	}
	return err
}

// readNames reads all rows and gives the texts of one field; nulls are left out.
func readNames(ctx context.Context, env *transform.Env, in []transform.Reader, field int) ([]string, error) {
	var names []string
	for _, r := range in {
		f := &r.Schema().Fields[field]
		codec, err := env.Semantics.Codec(f)
		if err != nil {
			return nil, err
		}
		for {
			b, err := r.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, err
			}
			col, err := b.Col(field, codec)
			if err != nil {
				b.Release()
				return nil, err
			}
			for i := range b.All() {
				if !env.Semantics.IsNull(col, i) {
					names = append(names, string(codec.AppendText(nil, col, i)))
				}
			}
			b.Release()
		}
	}
	return names, nil
}

// file cuts one file into blocks and submits the parsing of each.
func (r *csvReader) file(ctx context.Context, name string, submit func(transform.Morsel) error) error {
	f, err := r.env.Files.Open(ctx, name)
	if err != nil {
		return fmt.Errorf("open %s: %w", name, err)
	}
	defer f.Close()
	text, err := r.charset.reader(f)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if r.addResult {
		addResultFile(ctx, r.env, name, "File was read by a Csv input transform")
	}
	c := newCutter(text, r.dialect, r.columns, &r.blocks)
	var before *turn
	for first := true; ; first = false {
		select {
		case <-r.env.Stopping:
			return nil
		default:
		}
		b, err := c.next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		w := &csvBlock{reader: r, block: b, file: name, before: before}
		if first && r.header {
			r.repair(r.env, &w.block)
			b = w.block
			w.from, _ = c.scan.record(b.data, b.n, 0, nil)
			r.env.Counters.Input.Add(1)
		}
		if r.numbered {
			w.after = newTurn()
			before = w.after
		}
		if err := submit(w.parse); err != nil {
			return err
		}
	}
}

func addResultFile(ctx context.Context, env *transform.Env, name, comment string) {
	path := name
	if info, err := env.Files.Stat(ctx, name); err == nil {
		path = info.Path
	}
	env.Results.AddFile(transform.ResultFile{
		Path: path, Type: "GENERAL", Origin: env.Transform, Parent: env.Pipeline.Name, Comment: comment, Timestamp: env.Now(),
	})
}

// turn passes the number of rows so far from one block to the next. A block's
// parser waits for the one before it, which was handed out earlier and so runs
// or has run.
type turn struct{ rows chan int64 }

func newTurn() *turn { return &turn{rows: make(chan int64, 1)} }

// wait is 0 for a nil turn: the first block.
func (t *turn) wait(ctx context.Context) (int64, error) {
	if t == nil {
		return 0, nil
	}
	select {
	case n := <-t.rows:
		return n, nil
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// csvBlock is one morsel: a block of a file.
type csvBlock struct {
	reader *csvReader
	block  block
	from   int // of the first record; behind the header in the first block
	file   string
	before *turn // nil in the first block
	after  *turn // nil without row numbers
}

// chunkRows is how many records are scanned before their columns are built: few
// enough for spans and text to be in the nearest cache.
const chunkRows = 512

// parse implements transform.Morsel.
func (w *csvBlock) parse(ctx context.Context, emit transform.Emit) error {
	r := w.reader
	defer func() { r.blocks.put(w.block.data) }()
	r.repair(r.env, &w.block)
	p, ok := r.parsers.Get().(*csvParser)
	if !ok {
		p = &csvParser{scan: newScanner(r.dialect, r.columns)}
	}
	defer r.parsers.Put(p)
	p.scan.reset()
	p.scan.pos = w.from
	if w.after == nil {
		rows := 0
		for p.scan.pos < w.block.n {
			b := p.batch(w)
			rows += b.Rows()
			if err := p.emit(r, b, rows-b.Rows(), emit); err != nil {
				return err
			}
		}
		r.env.Counters.Input.Add(int64(rows))
		return nil
	}
	return p.numbered(ctx, w, emit)
}

// csvParser is the scratch memory of one parse.
type csvParser struct {
	scan *scanner
	bads [][]badValue
	bad  []badValue // of the batch under way

	values []values // of its early fields, by column
}

// batch parses records until the batch is full or the block ends.
func (p *csvParser) batch(w *csvBlock) *batch.Batch {
	r, s := w.reader, p.scan
	p.bad = nil
	clear(s.quoted)
	cols := make([]*batch.Column, r.columns, r.schema.Len())
	for c := range cols {
		cols[c] = r.fields[c].newColumn(r.env.Alloc)
	}
	p.beginValues(r)
	rows, size := 0, 0
	for rows < batch.MaxRows && size < batch.SoftBytes && s.pos < w.block.n {
		from := s.pos
		n := s.scan(w.block.data, w.block.n, min(chunkRows, batch.MaxRows-rows))
		for c := range cols {
			work := column{inputField: &r.fields[c], to: cols[c], data: w.block.data, spans: s.spans[c:], stride: r.columns, rows: n, index: c, values: &p.values[c]}
			work.append(s.quote, s.quoted[c])
			p.bad = append(p.bad, work.bad...)
		}
		rows += n
		size += s.pos - from
	}
	p.endValues(r, cols, rows)
	for c, col := range cols {
		col.Plain = plainText(col, &s.dialect, s.quoted[c])
	}
	if r.named {
		cols = append(cols, r.env.Alloc.Repeat(batch.StringValue(w.file), batch.String, rows))
	}
	if r.numbered {
		cols = append(cols, r.env.Alloc.Column(batch.Integer))
		cols[len(cols)-1].Extend(rows)
	}
	return r.env.Alloc.Assemble(r.schema, cols, rows)
}

// numbered parses the whole block, tells the next one how many rows there are,
// and emits.
func (p *csvParser) numbered(ctx context.Context, w *csvBlock, emit transform.Emit) (err error) {
	var list []*batch.Batch
	p.bads = p.bads[:0]
	defer func() {
		for _, b := range list {
			b.Release()
		}
	}()
	rows := int64(0)
	for p.scan.pos < w.block.n {
		b := p.batch(w)
		list = append(list, b)
		p.bads = append(p.bads, p.bad)
		rows += int64(b.Rows())
	}
	number, err := w.before.wait(ctx)
	if err != nil {
		return err
	}
	w.after.rows <- number + rows
	w.reader.env.Counters.Input.Add(rows)
	before := 0
	for k := 0; len(list) > 0; k++ {
		b := list[0]
		list = list[1:]
		numbers := b.Cols[len(b.Cols)-1].Ints
		for i := range numbers {
			number++
			numbers[i] = number
		}
		n := b.Rows()
		p.bad = p.bads[k]
		if err := p.emit(w.reader, b, before, emit); err != nil {
			return err
		}
		before += n
	}
	return nil
}

// emit hands on a batch, whose hold it takes: good rows to the main port, rows
// with values that could not be converted to the error port. before is the
// number of rows of the morsel that were emitted already.
func (p *csvParser) emit(r *csvReader, b *batch.Batch, before int, emit transform.Emit) error {
	if len(p.bad) == 0 {
		return emit(transform.Main, b)
	}
	return reject(r.env, b, p.bad, errCSV, before, emit)
}

// reject emits the batch, whose hold it takes, without the rows that hold bad
// values; these go to the error port.
func reject(env *transform.Env, b *batch.Batch, bad []badValue, code string, before int, emit transform.Emit) error {
	defer b.Release()
	sortByRow(bad)
	rejects := env.Rejects(b)
	for len(bad) > 0 {
		n := 1
		for n < len(bad) && bad[n].row == bad[0].row {
			n++
		}
		if err := rejects.Add(bad[0].row, rowError(b.Schema, bad[:n], code)); err != nil {
			return shiftRow(err, before)
		}
		bad = bad[n:]
	}
	if err := emit(transform.Main, b.Select(rejects.Keep())); err != nil {
		return err
	}
	return rejects.Flush(b, emit)
}

func sortByRow(bad []badValue) {
	slices.SortStableFunc(bad, func(x, y badValue) int { return x.row - y.row })
}

// rowError joins what is wrong with one row.
func rowError(s *batch.Schema, bad []badValue, code string) transform.RowError {
	if len(bad) == 1 {
		return transform.RowError{Fields: s.Fields[bad[0].column].Name, Code: code, Value: bad[0].text, Err: bad[0].err}
	}
	var fields, causes []string
	for _, v := range bad {
		fields = append(fields, s.Fields[v.column].Name)
		causes = append(causes, v.err.Error())
	}
	return transform.RowError{Fields: strings.Join(fields, ", "), Code: code, Value: bad[0].text, Err: errors.New(strings.Join(causes, ", "))}
}
