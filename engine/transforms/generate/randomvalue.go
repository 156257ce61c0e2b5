package generate

import (
	"crypto/hmac"
	"crypto/md5"
	crand "crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"math/rand/v2"
	"strconv"

	"github.com/google/uuid"

	"sluice/engine/batch"
	"sluice/engine/javarandom"
	"sluice/engine/transform"
)

// RandomValue appends random numbers, texts and ids to each row; without an input
// it makes one row of them. With a seed numbers and texts are those that Hop gives;
// ids and hashes are random always.
var RandomValue = transform.Define[RandomValueSettings](transform.About{
	ID:       "RandomValue",
	Name:     "Generate random value",
	Category: transform.CategoryInput,
	Summary:  "Random numbers, texts, ids and hashes.",
})

// RandomValueSettings lists the settings in the order the form shows them.
type RandomValueSettings struct {
	Seed   transform.Expr[string] `hop:"seed" help:"A number; empty gives other values each time"`
	Fields []RandomField          `hop:"fields>field" required:"true"`
}

// RandomField is one field.
type RandomField struct {
	Name string     `hop:"name" required:"true"`
	Type RandomKind `hop:"type" required:"true"`
}

// RandomKind is a kind of random value.
type RandomKind string

var randomKinds = []struct {
	code, label string
	typ         batch.Type
	length      int
	precision   int
	hash        func() hash.Hash // of a HMAC
	key         int              // bytes of its key
}{
	{"random number", "Random number", batch.Number, 10, 5, nil, 0},
	{"random integer", "Random integer", batch.Integer, 10, 0, nil, 0},
	{"random string", "Random string", batch.String, 13, 0, nil, 0},
	{"random uuid", "Random UUID", batch.String, 36, 0, nil, 0},
	{"random uuid4", "Random UUID version 4", batch.String, 36, 0, nil, 0},
	{"random machmacmd5", "Random HMAC MD5", batch.String, 100, 0, md5.New, 64},
	{"random machmacsha1", "Random HMAC SHA-1", batch.String, 100, 0, sha1.New, 64},
	{"random machmacsha256", "Random HMAC SHA-256", batch.String, 100, 0, sha256.New, 32},
	{"random machmacsha384", "Random HMAC SHA-384", batch.String, 100, 0, sha512.New384, 48},
	{"random machmacsha512", "Random HMAC SHA-512", batch.String, 100, 0, sha512.New, 64},
}

// Choices implements transform.Choices.
func (RandomKind) Choices() []transform.Choice {
	var list []transform.Choice
	for _, k := range randomKinds {
		list = append(list, transform.Choice{Code: k.code, Label: k.label})
	}
	return list
}

func (k RandomKind) index() int {
	for i := range randomKinds {
		if randomKinds[i].code == string(k) {
			return i
		}
	}
	return -1
}

func (s *RandomValueSettings) fields(origin string) ([]batch.Field, error) {
	var list []batch.Field
	for _, f := range s.Fields {
		k := f.Type.index()
		if k < 0 {
			return nil, fmt.Errorf("field %q: there is no kind of random value %q", f.Name, string(f.Type))
		}
		out := batch.NewField(f.Name, randomKinds[k].typ)
		out.Length, out.Precision, out.Origin = randomKinds[k].length, randomKinds[k].precision, origin
		list = append(list, out)
	}
	return list, nil
}

// Output implements transform.Settings.
func (s *RandomValueSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	fields, err := s.fields(l.Transform)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(l.Main().With(fields...))
}

// Start implements transform.Settings.
func (s *RandomValueSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	fields, err := s.fields(l.Transform)
	if err != nil {
		return nil, err
	}
	text, err := s.Seed.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("seed: %w", err)
	}
	seed := rand.Int64()
	if text != "" {
		if seed, err = strconv.ParseInt(text, 10, 64); err != nil {
			return nil, fmt.Errorf("seed: %q is not a whole number", text)
		}
	}
	random := javarandom.New(seed)
	return processor(env, l, l.Main().With(fields...), func(b *batch.Batch) ([]*batch.Column, error) {
		cols := columns(env, fields)
		eachRow(b, cols, func() {
			for i, c := range cols {
				s.Fields[i].Type.append(c, random)
			}
		})
		return cols, nil
	}, true), nil
}

// textBase is the base in which random texts write a number.
const textBase = 32

func (k RandomKind) append(c *batch.Column, random *javarandom.Random) {
	kind := &randomKinds[k.index()]
	switch {
	case kind.hash != nil:
		c.AppendString(randomHash(kind.hash, kind.key))
	case kind.typ == batch.Number:
		c.AppendFloat(random.Float64())
	case kind.typ == batch.Integer:
		c.AppendInt(int64(random.Int32()))
	case kind.length == 36:
		c.AppendString(uuid.NewString())
	default:
		n := random.Int64()
		if n < 0 {
			n = -n
		}
		c.AppendString(strconv.FormatInt(n, textBase))
	}
}

// randomHash is the HMAC of nothing under a random key.
func randomHash(h func() hash.Hash, keyBytes int) string {
	key := make([]byte, keyBytes)
	_, _ = crand.Read(key) // it never fails
	return hex.EncodeToString(hmac.New(h, key).Sum(nil))
}
