package decimal_test

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"sluice/engine/batch/decimal"
)

// randomDecimal covers the word and the big.Int representation and their border.
func randomDecimal(r *rand.Rand) decimal.Decimal {
	v := new(big.Int)
	for range 1 + r.IntN(4) {
		v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(r.Uint64()))
	}
	v.Rsh(v, uint(r.IntN(v.BitLen()+1)))
	switch r.IntN(8) {
	case 0:
		v.SetInt64(int64(r.IntN(3)))
	case 1:
		v.Lsh(big.NewInt(1), 127)
		v.Add(v, big.NewInt(int64(r.IntN(3)-1)))
	}
	if r.IntN(2) == 0 {
		v.Neg(v)
	}
	return decimal.FromBig(v, int32(r.IntN(60)-20))
}

func rat(d decimal.Decimal) *big.Rat {
	r := new(big.Rat).SetInt(d.Unscaled())
	p := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(d.Scale(), -d.Scale()))), nil))
	if d.Scale() >= 0 {
		return r.Quo(r, p)
	}
	return r.Mul(r, p)
}

func TestArithmeticAgreesWithRationals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		a, b := randomDecimal(r), randomDecimal(r)
		sum, err1 := a.Add(b)
		diff, err2 := a.Sub(b)
		product, err3 := a.Mul(b)
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatalf("%v, %v: %v", a, b, err)
		}
		ra, rb := rat(a), rat(b)
		for name, pair := range map[string][2]*big.Rat{
			"sum":        {rat(sum), new(big.Rat).Add(ra, rb)},
			"difference": {rat(diff), new(big.Rat).Sub(ra, rb)},
			"product":    {rat(product), new(big.Rat).Mul(ra, rb)},
			"negation":   {rat(a.Neg()), new(big.Rat).Neg(ra)},
		} {
			if pair[0].Cmp(pair[1]) != 0 {
				t.Fatalf("%s of %v and %v", name, a, b)
			}
		}
		if a.Cmp(b) != ra.Cmp(rb) || a.Sign() != ra.Sign() {
			t.Fatalf("order of %v and %v", a, b)
		}
		if f, _ := ra.Float64(); a.Float64() != f {
			t.Fatalf("float of %v: %v, want %v", a, a.Float64(), f)
		}
		if back := parse(t, a.String()); back.Cmp(a) != 0 || back.Scale() != a.Scale() {
			t.Fatalf("text of %v: %v", a, back)
		}
		if hi, lo, scale, ok := a.Int128(); ok && decimal.FromInt128(hi, lo, scale).Cmp(a) != 0 {
			t.Fatalf("words of %v", a)
		}
		whole, ok := a.Int64()
		cut := new(big.Int).Quo(ra.Num(), ra.Denom())
		if ok != cut.IsInt64() || ok && whole != cut.Int64() {
			t.Fatalf("integer of %v: %d, %v", a, whole, ok)
		}
	}
}

func TestHalfCeiling(t *testing.T) {
	for text, want := range map[string]string{"2.5": "3", "-2.5": "-2", "-2.51": "-3", "2.49": "2", "-0.5": "0"} {
		if d, err := parse(t, text).Rescale(0, decimal.HalfCeiling); err != nil || d.String() != want {
			t.Errorf("%s: %v, %v, want %s", text, d, err, want)
		}
	}
}

func TestFromFloat64IsJavasValueOf(t *testing.T) {
	for want, v := range map[string]float64{
		"5.0": 5, "0.0": 0, "0.1": 0.1, "1.0E+7": 1e7, "123456789.5": 123456789.5, "0.00010": 1e-4, "100.0": 100,
	} {
		if d, err := decimal.FromFloat64(v); err != nil || d.String() != want {
			t.Errorf("%v: %v, %v, want %s", v, d, err, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, text := range []string{"", ".", "-", "1e", "1e+", "1 ", " 1", "1.2.3", "0x1", "NaN", "1e5x", "--1"} {
		if _, err := decimal.Parse(text); !errors.Is(err, decimal.ErrSyntax) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"1E2147483647", "1E-2147483648", "1E99999999999"} {
		if _, err := decimal.Parse(text); !errors.Is(err, decimal.ErrRange) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := parse(t, "1").Quo(parse(t, "0.00"), 10, decimal.HalfUp); !errors.Is(err, decimal.ErrDivideByZero) {
		t.Error(err)
	}
	if _, err := parse(t, "-1").Sqrt(0, decimal.HalfUp); !errors.Is(err, decimal.ErrNegativeRoot) {
		t.Error(err)
	}
	if _, err := parse(t, "1.5").Rescale(0, decimal.Unnecessary); !errors.Is(err, decimal.ErrInexact) {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"1", "-0.00", "1e5", "170141183460469231731687303715884105728", "1E-400", ".5", "5."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := decimal.Parse(text)
		if err != nil {
			return
		}
		if back := parse(t, d.String()); back.Cmp(d) != 0 || back.Scale() != d.Scale() {
			t.Fatalf("%q became %v", text, back)
		}
		if back := parse(t, d.Plain()); back.Cmp(d) != 0 {
			t.Fatalf("%q became %v", text, back)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	x, y := parse(b, "12345678901234.56"), parse(b, "0.0123")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := x.Add(y); err != nil {
			b.Fatal(err)
		}
	}
}
