package generate

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/brianvoe/gofakeit/v7"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// Fake appends made-up names, addresses, numbers and the like to each row. What
// Hop's library offers beyond the topics known here is filled with words; a
// warning in the log says so.
var Fake = transform.Define[FakeSettings](transform.About{
	ID:       "Fake",
	Name:     "Fake data",
	Category: transform.CategoryInput,
	Summary:  "Made-up names, addresses, numbers, texts.",
})

// FakeSettings lists the settings in the order the form shows them.
type FakeSettings struct {
	Locale transform.Expr[string] `hop:"locale" default:"en" help:"Only English data is made here"`
	Fields []FakeField            `hop:"fields>field" required:"true"`
}

// FakeField is one field: a provider ("Name", "address") and its topic
// ("firstName"). A field that lacks one of the three is left out, as in Hop.
type FakeField struct {
	Name      string         `hop:"name" required:"true"`
	Type      string         `hop:"type" required:"true"`
	Topic     string         `hop:"topic" required:"true"`
	Arguments []FakeArgument `hop:"arguments>argument" advanced:"true"`
}

// FakeArgument is an argument of the topic.
type FakeArgument struct {
	Type  string `hop:"type"`
	Value string `hop:"value"`
}

func (f *FakeField) complete() bool { return f.Name != "" && f.Type != "" && f.Topic != "" }

// topic finds what makes the values; false when it is not known here.
func (f *FakeField) topic() (fakeTopic, bool) {
	provider := strings.ToLower(f.Type)
	if name, ok := oldProviders[provider]; ok {
		provider = name
	}
	t, ok := fakeTopics[provider+"."+strings.ToLower(f.Topic)]
	if !ok {
		t = words
	}
	return t, ok
}

func (s *FakeSettings) fields(origin string) []batch.Field {
	var list []batch.Field
	for i := range s.Fields {
		if !s.Fields[i].complete() {
			continue
		}
		t, _ := s.Fields[i].topic()
		f := batch.NewField(s.Fields[i].Name, t.typ)
		f.Origin = origin
		list = append(list, f)
	}
	return list
}

// Output implements transform.Settings.
func (s *FakeSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(l.Main().With(s.fields(l.Transform)...))
}

// Start implements transform.Settings.
func (s *FakeSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	fields := s.fields(l.Transform)
	p := &fakeProcessor{env: env, schema: l.Main().With(fields...), fields: fields}
	faker := gofakeit.New(0)
	p.source = fakeSource{Faker: faker, random: rand.New(faker.Rand), now: env.Now}
	for i := range s.Fields {
		f := &s.Fields[i]
		if !f.complete() {
			continue
		}
		t, known := f.topic()
		if !known {
			env.Log.Warn("Fake data of this topic is not available, words are used instead", slog.String("type", f.Type), slog.String("topic", f.Topic))
		}
		var args []string
		for k, a := range f.Arguments {
			text, err := env.Resolve(a.Value)
			if err != nil {
				return nil, fmt.Errorf("field %q, argument %d: %w", f.Name, k+1, err)
			}
			args = append(args, text)
		}
		value, err := t.prepare(args)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		p.makers = append(p.makers, value)
	}
	return p, nil
}

// fakeSource is what topics draw from; one goroutine owns it.
type fakeSource struct {
	*gofakeit.Faker
	random *rand.Rand
	now    func() time.Time
}

type fakeProcessor struct {
	transform.Stateful
	transform.TakesRaw
	env    *transform.Env
	schema *batch.Schema
	fields []batch.Field
	source fakeSource
	makers []func(*fakeSource) batch.Value
}

// Apply implements transform.RowWise.
func (p *fakeProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	cols := columns(p.env, p.fields)
	eachRow(b, cols, func() {
		for i, c := range cols {
			c.AppendValue(p.makers[i](&p.source))
		}
	})
	return emit(transform.Main, b.With(p.schema, cols...))
}
