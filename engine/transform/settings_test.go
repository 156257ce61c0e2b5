package transform_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/hopxml"
	"sluice/engine/project"
	"sluice/engine/transform"
)

type color string

func (color) Choices() []transform.Choice {
	return []transform.Choice{{Code: "red"}, {Code: "blue"}}
}

type everything struct {
	Text     string                 `hop:"text,alias=old_text" default:"hello"`
	Size     transform.Expr[int]    `hop:"size" default:"10" min:"1" max:"100" label:"Rows"`
	Ratio    float64                `hop:"ratio" default:"0.5"`
	On       bool                   `hop:"on"`
	Kept     bool                   `hop:"kept" default:"Y"`
	Color    color                  `hop:"color" default:"red"`
	Type     batch.Type             `hop:"type"`
	TypeID   batch.Type             `hop:"type_id,typeid"`
	Trim     batch.Trim             `hop:"trim"`
	Password transform.Secret       `hop:"password"`
	Inner    group                  `hop:"inner"`
	Keys     []string               `hop:"keys>key"`
	Rows     []row                  `hop:"fields>field" required:"true"`
	Files    []file                 `hop:"file,inline"`
	Name     transform.Expr[string] `hop:"name2" required:"true"`
}

type group struct {
	Level int `hop:"level" default:"3"`
}

type row struct {
	Name   string `hop:"name" required:"true"`
	Length int    `hop:"length" default:"-1"`
}

type file struct {
	Name string `hop:"name"`
	Mask string `hop:"filemask"`
	Deep bool   `hop:"include_subfolders" default:"N"`
}

func (s *everything) Output(transform.Links, transform.Design) (transform.Schemas, error) {
	return nil, nil
}

func (s *everything) Start(*transform.Env, transform.Links) (transform.Processor, error) {
	return nil, nil
}

var definition = transform.Define[everything](transform.About{ID: "Everything"})

func decode(t *testing.T, xml string) (*everything, []transform.Problem) {
	t.Helper()
	d, err := hopxml.Parse("x.hpl", []byte("<transform>"+xml+"</transform>"))
	if err != nil {
		t.Fatal(err)
	}
	s, problems := definition.Decode(d.Root())
	return s.(*everything), problems
}

func TestDecode(t *testing.T) {
	for name, c := range map[string]struct{ xml, want string }{
		"absent settings have their defaults": {"", "hello 10 0.5 false true red None None none 3 [] [] []"},
		"present and empty overrides text":    {"<text/>", " 10 0.5 false true red None None none 3 [] [] []"},
		"names match without case":            {"<TEXT>x</TEXT><Size>${N}</Size>", "x ${N} 0.5 false true red None None none 3 [] [] []"},
		"an old name":                         {"<old_text>old</old_text>", "old 10 0.5 false true red None None none 3 [] [] []"},
		"the current name wins":               {"<old_text>old</old_text><text>new</text>", "new 10 0.5 false true red None None none 3 [] [] []"},
		"flags":                               {"<on>true</on><kept>N</kept>", "hello 10 0.5 true false red None None none 3 [] [] []"},
		"an unknown code is the default":      {"<color>green</color>", "hello 10 0.5 false true red None None none 3 [] [] []"},
		"a code in another case":              {"<color>BLUE</color><type>integer</type><type_id>2</type_id><trim>both</trim>", "hello 10 0.5 false true blue Integer String both 3 [] [] []"},
		"tables, lists and groups": {
			"<inner><level>9</level></inner><keys><key>a</key><key>b</key></keys><fields><field><name>n</name></field><field><length>4</length></field></fields>",
			"hello 10 0.5 false true red None None none 9 [a b] [{n -1} { 4}] []",
		},
		"columns inside one element": {
			"<file><name>a</name><filemask>m</filemask><name>b</name><filemask/><include_subfolders>Y</include_subfolders></file>",
			"hello 10 0.5 false true red None None none 3 [] [] [{a m true} {b  false}]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, problems := decode(t, c.xml)
			if len(problems) > 0 {
				t.Errorf("problems: %v", problems)
			}
			got := fmt.Sprint(s.Text, " ", s.Size.Text, " ", s.Ratio, " ", s.On, " ", s.Kept, " ", s.Color, " ", s.Type, " ", s.TypeID, " ", s.Trim, " ", s.Inner.Level, " ", s.Keys, " ", s.Rows, " ", s.Files)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodeReportsWhatItCannotRead(t *testing.T) {
	s, problems := decode(t, "<fields><field><name>n</name><length>wide</length></field></fields>")
	if len(problems) != 1 || problems[0].Setting != "fields>field[1]>length" || !strings.Contains(problems[0].Message, `"wide" is not a whole number`) {
		t.Errorf("problems: %+v", problems)
	}
	if s.Rows[0].Length != -1 {
		t.Errorf("length is %d, want the default", s.Rows[0].Length)
	}
}

func TestMissing(t *testing.T) {
	s, _ := decode(t, "<size>0</size><fields><field/></fields>")
	problems, err := definition.Missing(s)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range problems {
		got = append(got, p.Setting+": "+p.Message)
	}
	want := []string{
		"size: Rows is 0, below its least value 1",
		"fields>field[1]>name: Name is empty",
		"name2: Name is empty",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

type badTag struct {
	X string `hop:"x" standard:"1"`
}

func (s *badTag) Output(transform.Links, transform.Design) (transform.Schemas, error) {
	return nil, nil
}

func (s *badTag) Start(*transform.Env, transform.Links) (transform.Processor, error) { return nil, nil }

func TestAnUnknownTagIsAnError(t *testing.T) {
	if _, err := transform.Define[badTag](transform.About{}).Settings(); err == nil || !strings.Contains(err.Error(), `unknown tag "standard"`) {
		t.Errorf("error is %v", err)
	}
}

func TestExpr(t *testing.T) {
	v := project.NewVariables()
	v.Set("N", "1,000")
	v.Set("BAD", "many")
	n, err := transform.Expr[int64]{Text: "${N}"}.Eval(v)
	if n != 1000 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	if _, err = (transform.Expr[int64]{Text: "${BAD}"}).Eval(v); err == nil || !strings.Contains(err.Error(), `"many" (from "${BAD}")`) {
		t.Errorf("error is %v", err)
	}
	if n, err = (transform.Expr[int64]{Text: " "}).Or(v, 5); n != 5 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	if b, err := (transform.Expr[bool]{Text: "Yes"}).Eval(v); !b || err != nil {
		t.Errorf("%v %v", b, err)
	}
	if f, err := (transform.Expr[float64]{Text: "1.5"}).Eval(v); f != 1.5 || err != nil {
		t.Errorf("%v %v", f, err)
	}
}

func TestASecretShowsNothing(t *testing.T) {
	s := transform.Secret("hunter2")
	text, err := s.MarshalText()
	for _, shown := range []string{fmt.Sprint(s), fmt.Sprintf("%v %s %q %#v %+v", s, s, s, s, struct{ S transform.Secret }{s}), s.LogValue().String(), string(text)} {
		if strings.Contains(shown, "hunter2") || err != nil {
			t.Errorf("%q, %v", shown, err)
		}
	}
	v := project.NewVariables()
	v.Set("PW", "hunter2")
	got, err := transform.Secret("${PW}").Reveal(v)
	if err != nil || got.Reveal() != "hunter2" {
		t.Errorf("%v", err)
	}
}

func TestRegistryFindsIDsWithoutCase(t *testing.T) {
	r := transform.NewRegistry([]transform.Definition{definition})
	if _, ok := r.Find("eVERYTHING"); !ok {
		t.Error("not found")
	}
	defer func() {
		if recover() == nil {
			t.Error("two definitions with one id are accepted")
		}
	}()
	transform.NewRegistry([]transform.Definition{definition}, []transform.Definition{definition})
}
