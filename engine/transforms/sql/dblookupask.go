package sql

import (
	"context"
	"database/sql"
	"errors"

	"sluice/engine/batch"
	"sluice/engine/database"
)

// look appends the values for row i of the keys to result; false when there are
// none.
func (p *dbLookup) look(ctx context.Context, keys *batch.Batch, i int, bad error, result *batch.Batch) (found bool, err error) {
	if bad != nil {
		return false, bad
	}
	if p.cache == nil {
		return p.ask(ctx, keys, i, result)
	}
	p.key = p.key[:0]
	null := false
	for _, c := range keys.Cols {
		v := c.Value(i)
		null = null || p.env.Semantics.IsNullValue(v)
		p.key = appendKey(p.key, v)
	}
	if p.whole && null {
		return false, nil // nothing equals null
	}
	row, known := p.cache.find(p.key)
	if !known && !p.whole {
		if row, err = p.remember(ctx, keys, i); err != nil {
			return false, err
		}
	}
	if row < 0 {
		return false, nil
	}
	for k, c := range result.Cols {
		c.AppendFrom(p.cache.rows.Cols[k], row)
	}
	return true, nil
}

// remember asks the table and keeps the answer under p.key.
func (p *dbLookup) remember(ctx context.Context, keys *batch.Batch, i int) (int, error) {
	p.cache.room()
	before := p.cache.count()
	found, err := p.ask(ctx, keys, i, p.cache.rows)
	if err != nil {
		truncate(p.cache.rows, before)
		return -1, err
	}
	row := -1
	if found {
		row = before
		p.cache.added++
	}
	p.cache.put(p.key, row)
	return row, nil
}

// ask runs the query and appends its first row to result.
func (p *dbLookup) ask(ctx context.Context, keys *batch.Batch, i int, result *batch.Batch) (found bool, err error) {
	if p.args, err = p.binder.Append(p.args[:0], keys, i); err != nil {
		return false, err
	}
	rows, err := p.session.query(ctx, p.query, p.args)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	return p.first(rows, result)
}

func (p *dbLookup) first(rows *sql.Rows, result *batch.Batch) (bool, error) {
	found := false
	if len(p.settings.Values) == 0 {
		found = rows.Next()
	} else {
		r, err := database.NewReader(rows, p.dialect, p.added)
		if err != nil {
			return false, err
		}
		if found, err = r.Next(result.Cols); err != nil {
			return false, err
		}
	}
	if !found {
		return false, rows.Err()
	}
	p.env.Counters.Input.Add(1)
	if p.settings.OnlyOne && rows.Next() {
		return false, errors.New("the table has several rows for these keys, and only one is allowed")
	}
	p.trim(result)
	return true, rows.Err()
}

// trim cuts the blanks of the last row's texts.
func (p *dbLookup) trim(result *batch.Batch) {
	for k, v := range p.settings.Values {
		c := result.Cols[k]
		n := c.Len() - 1
		if v.Trim == batch.TrimNone || c.Type != batch.String || c.IsNull(n) {
			continue
		}
		text := string(v.Trim.Apply(c.Bytes(n)))
		c.Truncate(n)
		c.AppendString(text)
	}
}
