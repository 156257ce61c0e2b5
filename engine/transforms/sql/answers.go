package sql

import (
	"context"
	"encoding/binary"
	"errors"
	"math"

	"sluice/engine/batch"
	"sluice/engine/database"
	"sluice/engine/transform"
)

// answers keeps what lookups found. It holds as many keys as it is allowed, then
// starts over; memory is taken from the execution's budget in steps.
type answers struct {
	env    *transform.Env
	rows   *batch.Batch
	index  map[string]int32 // row by key; -1: the table has none
	limit  int              // keys; 0: no limit
	added  int              // rows, when there are no columns to count them
	bytes  int64            // used since the last step
	booked int64
}

const (
	answerStep  = 1 << 20
	answerEntry = 96 // an entry of the index beside its key, about
	// answerText is the most text one column may hold: its offsets are 32 bits.
	answerText = 1 << 30
)

func newAnswers(env *transform.Env, schema *batch.Schema, limit int) *answers {
	return &answers{env: env, rows: env.Alloc.Batch(schema), index: map[string]int32{}, limit: limit}
}

// find gives the row of a key, -1 when the table has none or it is not known.
func (a *answers) find(key []byte) (row int, known bool) {
	r, ok := a.index[string(key)]
	if !ok {
		return -1, false
	}
	return int(r), true
}

func (a *answers) put(key []byte, row int) {
	a.index[string(key)] = int32(row)
	a.bytes += answerEntry + int64(len(key))
}

func (a *answers) count() int {
	if len(a.rows.Cols) == 0 {
		return a.added
	}
	return a.rows.Physical()
}

// room makes room for one more key: it starts over when the limit is reached or
// the budget refuses more.
func (a *answers) room() {
	if a.limit > 0 && len(a.index) >= a.limit {
		a.reset()
	}
	if a.tooLong() || (a.bytes+int64(a.rows.Bytesize()) > a.booked && !a.book()) {
		a.reset()
	}
}

func (a *answers) tooLong() bool {
	for _, c := range a.rows.Cols {
		if len(c.Data) > answerText {
			return true
		}
	}
	return false
}

// book takes another step of the budget.
func (a *answers) book() bool {
	if !a.env.Memory.Request(answerStep) {
		return false
	}
	a.booked += answerStep
	return true
}

func (a *answers) reset() {
	schema := a.rows.Schema
	a.rows.Release()
	a.rows, a.index, a.bytes, a.added = a.env.Alloc.Batch(schema), map[string]int32{}, 0, 0
}

func (a *answers) close() {
	if a == nil || a.rows == nil {
		return
	}
	a.rows.Release()
	a.rows = nil
	a.env.Memory.Release(a.booked)
}

// Close implements io.Closer.
func (p *dbLookup) Close() error {
	p.cache.close()
	p.cache = nil
	return p.session.Close()
}

// load reads the whole table into the cache. When the budget does not hold it the
// table is asked row by row instead.
func (p *dbLookup) load(ctx context.Context) error {
	columns := append(append([]string{}, p.where.columns...), p.columns()...)
	query := p.selection(columns) + p.order()
	rows, err := p.conn.QueryContext(ctx, query)
	if err != nil {
		return p.failure(query, err)
	}
	defer rows.Close()
	schema := batch.NewSchema(append(append([]batch.Field{}, p.keys.Fields...), p.added.Fields...)...)
	r, err := database.NewReader(rows, p.dialect, schema)
	if err != nil {
		return err
	}
	for more := true; more; {
		b := p.env.Alloc.Batch(schema)
		if more, err = r.Fill(b, 0); err == nil {
			err = p.keep(b)
		}
		b.Release()
		if errors.Is(err, errNoRoom) {
			p.env.Log.Info("The table is too large to be kept in memory and is asked row by row", "table", p.table)
			p.cache.reset()
			return nil
		}
		if err != nil {
			return err
		}
	}
	p.whole = true
	return rows.Err()
}

var errNoRoom = errors.New("no memory for the whole table")

// keep adds loaded rows; of several with one key the first counts, unless only
// one is allowed.
func (p *dbLookup) keep(b *batch.Batch) error {
	n := p.keys.Len()
	for i := range b.Physical() {
		p.key = p.key[:0]
		null := false
		for _, c := range b.Cols[:n] {
			v := c.Value(i)
			null = null || p.env.Semantics.IsNullValue(v)
			p.key = appendKey(p.key, v)
		}
		if null {
			continue
		}
		if _, known := p.cache.find(p.key); known {
			if p.settings.OnlyOne {
				return errors.New("the table has several rows for one key, and only one is allowed")
			}
			continue
		}
		p.cache.put(p.key, p.cache.count())
		for k, c := range b.Cols[n:] {
			p.cache.rows.Cols[k].AppendFrom(c, i)
		}
		p.cache.added++
		p.trim(p.cache.rows)
	}
	p.env.Counters.Input.Add(int64(b.Physical()))
	for p.cache.bytes+int64(p.cache.rows.Bytesize()) > p.cache.booked {
		if p.cache.tooLong() || !p.cache.book() {
			return errNoRoom
		}
	}
	return nil
}

// appendKey appends a value so that equal values of one type have equal keys.
func appendKey(key []byte, v batch.Value) []byte {
	if !v.Valid {
		return append(key, 0)
	}
	key = append(key, 1)
	switch v.Type {
	case batch.Number:
		f := v.Float
		if f == 0 {
			f = 0 // -0 equals 0
		}
		return binary.BigEndian.AppendUint64(key, math.Float64bits(f))
	case batch.BigNumber:
		v.Text = v.Dec.Strip().String()
	case batch.Integer, batch.Date, batch.Timestamp, batch.Boolean:
		key = binary.BigEndian.AppendUint64(key, uint64(v.Int))
		return binary.BigEndian.AppendUint32(key, uint32(v.Nano))
	}
	key = binary.AppendUvarint(key, uint64(len(v.Text)))
	return append(key, v.Text...)
}
