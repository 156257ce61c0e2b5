package main

import (
	"io"
	"strconv"
	"time"
)

// countries and their shares in percent, which add up to 100.
var countries = []struct {
	code  string
	share int
}{
	{"DE", 18},
	{"US", 16},
	{"FR", 10},
	{"GB", 9},
	{"IT", 7},
	{"ES", 6},
	{"NL", 5},
	{"PL", 5},
	{"SE", 4},
	{"AT", 3},
	{"CH", 3},
	{"BE", 3},
	{"DK", 2},
	{"NO", 2},
	{"FI", 2},
	{"PT", 1},
	{"CZ", 1},
	{"IE", 1},
	{"JP", 1},
	{"BR", 1},
}

const (
	blockRows     = 25_000
	days          = 731 // from 2024-01-01, so to the end of 2025
	millisPerDay  = 24 * 60 * 60 * 1000
	unknownShare  = 0.05 // of the orders name a customer who is not in customers.csv
	emptyAmounts  = 0.01
	emptyNotes    = 0.30
	quotedNotes   = 0.10
	customerWidth = 7
)

// writeOrders writes the header and s.Rows orders. Blocks have a seed of their own, so that any number of
// workers gives the same file.
func writeOrders(w io.Writer, s shape, p phrases, workers int) error {
	if _, err := io.WriteString(w, "id,ts,customer,country,amount,qty,note\n"); err != nil {
		return err
	}
	g := newOrderMaker(s, p)
	stop := make(chan struct{})
	defer close(stop)
	for block := range g.blocks(workers, stop) {
		if _, err := w.Write(<-block); err != nil {
			return err
		}
	}
	return nil
}

// orderMaker formats orders; it is read-only once made, so workers share it.
type orderMaker struct {
	shape
	phrases
	country [100]string
	day     [days]string
	span    int // customers that orders name: the known ones and some more
}

func newOrderMaker(s shape, p phrases) *orderMaker {
	g := &orderMaker{shape: s, phrases: p, span: s.Customers + int(float64(s.Customers)*unknownShare/(1-unknownShare))}
	at := 0
	for _, c := range countries {
		for range c.share {
			g.country[at] = c.code
			at++
		}
	}
	first := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for d := range g.day {
		g.day[d] = first.AddDate(0, 0, d).Format(time.DateOnly)
	}
	return g
}

// blocks yields the blocks of the file in order, each as a channel that gives its bytes once they are made.
func (g *orderMaker) blocks(workers int, stop <-chan struct{}) <-chan chan []byte {
	inOrder := make(chan chan []byte, workers)
	go func() {
		defer close(inOrder)
		for first := 1; first <= g.Rows; first += blockRows {
			result := make(chan []byte, 1)
			select {
			case inOrder <- result:
			case <-stop:
				return
			}
			go func() { result <- g.block(first, min(first+blockRows-1, g.Rows)) }()
		}
	}()
	return inOrder
}

// block formats the orders first to last, both included.
func (g *orderMaker) block(first, last int) []byte {
	r := random(g.Seed<<32 + uint64(first))
	out := make([]byte, 0, (last-first+1)*96)
	for id := first; id <= last; id++ {
		out = g.order(out, id, &r)
	}
	return out
}

func (g *orderMaker) order(out []byte, id int, r *random) []byte {
	out = strconv.AppendInt(out, int64(id), 10)
	out = append(out, ',')
	out = append(out, g.day[r.below(days)]...)
	out = append(out, ' ')
	out = appendClock(out, r.below(millisPerDay))
	out = append(out, ',', 'C')
	out = appendPadded(out, 1+r.below(g.span), customerWidth)
	out = g.appendTag(out, id)
	out = append(out, ',')
	out = append(out, g.country[r.below(len(g.country))]...)
	out = g.appendTag(out, id)
	out = append(out, ',')
	out = appendAmount(out, r)
	out = append(out, ',')
	out = strconv.AppendInt(out, int64(1+r.below(20)), 10)
	out = append(out, ',')
	switch share := r.unit(); {
	case share < emptyNotes:
	case share < emptyNotes+quotedNotes:
		phrase := g.quoted[r.below(phraseCount)]
		out = append(out, phrase[:len(phrase)-1]...)
		out = append(g.appendTag(out, id), '"')
	default:
		out = append(out, g.plain[r.below(phraseCount)]...)
		out = g.appendTag(out, id)
	}
	return append(out, '\n')
}

// appendTag appends, where texts must not repeat, what no other order has: its number, scattered over 40 bits by an
// odd factor.
func (g *orderMaker) appendTag(out []byte, id int) []byte {
	if !g.Distinct {
		return out
	}
	const digits = "0123456789abcdef"
	tag := uint64(id) * 0x9e3779b97f4a7c15 & (1<<40 - 1)
	out = append(out, ' ')
	for shift := 36; shift >= 0; shift -= 4 {
		out = append(out, digits[tag>>shift&15])
	}
	return out
}

// appendAmount appends an amount with two decimals: mostly small, one in ten large, a few missing.
func appendAmount(out []byte, r *random) []byte {
	u := r.unit()
	cents := 100 + int(60_000*u*u*u)
	if r.below(10) == 0 {
		cents = 60_000 + int(900_000*u)
	}
	if r.unit() < emptyAmounts {
		return out
	}
	out = strconv.AppendInt(out, int64(cents/100), 10)
	out = append(out, '.')
	return appendPadded(out, cents%100, 2)
}

// appendClock appends HH:MM:SS.mmm.
func appendClock(out []byte, millis int) []byte {
	out = appendPadded(out, millis/3_600_000, 2)
	out = append(out, ':')
	out = appendPadded(out, millis/60_000%60, 2)
	out = append(out, ':')
	out = appendPadded(out, millis/1000%60, 2)
	out = append(out, '.')
	return appendPadded(out, millis%1000, 3)
}

// appendPadded appends n with leading zeros; n must not have more than width digits.
func appendPadded(out []byte, n, width int) []byte {
	start := len(out)
	for range width {
		out = append(out, '0')
	}
	for at := start + width - 1; n > 0; at-- {
		out[at] = byte('0' + n%10)
		n /= 10
	}
	return out
}
