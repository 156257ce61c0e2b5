package gesture_test

import (
	"reflect"
	"testing"
	"time"

	"sluice/canvas/gesture"
	"sluice/canvas/scene"
)

// ruler measures text without fonts: every character is half its size wide.
type ruler struct{}

func (ruler) Width(text string, size float64, _ bool) float64 {
	return float64(len([]rune(text))) * size / 2
}

func at(x, y float64) scene.Point { return scene.Point{X: x, Y: y} }

// graph is A -> B -> C in a row, D below without hops, and a note.
func graph() *scene.Scene {
	node := func(id scene.ID, x, y float64) scene.Node {
		return scene.Node{ID: id, Label: string(id), Pos: at(x, y)}
	}
	a := node("A", 100, 100)
	a.Gate, a.State = scene.GateSealed, scene.StateFailed
	return scene.New(scene.Graph{
		Nodes: []scene.Node{a, node("B", 300, 100), node("C", 500, 100), node("D", 300, 300)},
		Hops: []scene.Hop{
			{ID: "AB", From: "A", To: "B", Gate: scene.GateSealed},
			{ID: "BC", From: "B", To: "C"},
		},
		Notes: []scene.Note{{ID: "N", Rect: scene.Rect{Min: at(500, 250), Max: at(600, 320)}, Text: "note"}},
	}, ruler{}, scene.Options{})
}

func machine(cfg gesture.Config) *gesture.Machine {
	m := gesture.New(cfg)
	m.SetSize(scene.Size{W: 800, H: 600})
	m.SetScene(graph())
	return m
}

// script builds events that are far apart in time unless told otherwise.
type script struct {
	events []gesture.Event
	now    time.Duration
}

func (s *script) add(e gesture.Event) *script {
	s.now += 20 * time.Millisecond
	e.Time = s.now
	s.events = append(s.events, e)
	return s
}

func (s *script) wait(d time.Duration) *script { s.now += d; return s }

func (s *script) down(p scene.Point, b gesture.Button, mods gesture.Mods) *script {
	return s.add(gesture.Event{Kind: gesture.Down, At: p, Button: b, Mods: mods})
}

func (s *script) move(p scene.Point, mods gesture.Mods) *script {
	return s.add(gesture.Event{Kind: gesture.PointerMove, At: p, Mods: mods})
}

func (s *script) up(p scene.Point, b gesture.Button, mods gesture.Mods) *script {
	return s.add(gesture.Event{Kind: gesture.Up, At: p, Button: b, Mods: mods})
}

func (s *script) click(p scene.Point, mods gesture.Mods) *script {
	return s.down(p, gesture.Primary, mods).up(p, gesture.Primary, mods)
}

func (s *script) drag(from, to scene.Point, b gesture.Button, mods gesture.Mods) *script {
	return s.down(from, b, mods).move(from.Lerp(to, 0.5), mods).move(to, mods).up(to, b, mods)
}

func (s *script) key(k gesture.Key, mods gesture.Mods) *script {
	return s.add(gesture.Event{Kind: gesture.KeyDown, Key: k, Mods: mods})
}

func (s *script) keyUp(k gesture.Key) *script {
	return s.add(gesture.Event{Kind: gesture.KeyUp, Key: k})
}

func (s *script) tick() *script { return s.add(gesture.Event{Kind: gesture.Tick}) }

// play feeds the script and collects the intentions.
func play(m *gesture.Machine, s *script) []gesture.Intent {
	var got []gesture.Intent
	for _, e := range s.events {
		got = append(got, m.Handle(e).Intents...)
	}
	return got
}

func sel(refs ...scene.Ref) gesture.Select { return gesture.Select{Selection: scene.Select(refs...)} }

func node(id scene.ID) scene.Ref { return scene.NodeRef(id) }

func TestGestures(t *testing.T) {
	const p, s2, mid = gesture.Primary, gesture.Secondary, gesture.Middle
	to := func(ref scene.Ref, x, y float64) map[scene.Ref]scene.Point {
		return map[scene.Ref]scene.Point{ref: at(x, y)}
	}
	tests := map[string]struct {
		cfg    gesture.Config
		script *script
		want   []gesture.Intent
	}{
		"click selects once": {
			script: new(script).click(at(100, 100), 0).wait(time.Second).click(at(100, 100), 0),
			want:   []gesture.Intent{sel(node("A"))},
		},
		"control click adds and removes": {
			script: new(script).click(at(100, 100), 0).click(at(300, 100), gesture.Ctrl).wait(time.Second).click(at(100, 100), gesture.Ctrl),
			want:   []gesture.Intent{sel(node("A")), sel(node("A"), node("B")), sel(node("B"))},
		},
		"double click edits": {
			script: new(script).click(at(300, 100), 0).click(at(301, 101), 0),
			want:   []gesture.Intent{sel(node("B")), gesture.Edit{Ref: node("B")}},
		},
		"double click on the name edits": {
			script: new(script).click(at(300, 136), 0).click(at(300, 136), 0),
			want:   []gesture.Intent{sel(node("B")), gesture.Edit{Ref: node("B")}},
		},
		"two slow clicks do not edit": {
			script: new(script).click(at(300, 100), 0).wait(time.Second).click(at(300, 100), 0),
			want:   []gesture.Intent{sel(node("B"))},
		},
		"click on empty asks to add": {
			script: new(script).click(at(50, 400), 0),
			want:   []gesture.Intent{gesture.Add{At: at(50, 400), Document: at(50, 400)}},
		},
		"click on empty first clears the selection": {
			script: new(script).click(at(300, 300), 0).click(at(50, 400), 0),
			want:   []gesture.Intent{sel(node("D")), sel()},
		},
		"trembling hand is still a click": {
			script: new(script).down(at(50, 400), p, 0).move(at(52, 402), 0).up(at(52, 402), p, 0),
			want:   []gesture.Intent{gesture.Add{At: at(52, 402), Document: at(52, 402)}},
		},
		"gate badge": {
			script: new(script).click(at(124, 76), 0),
			want:   []gesture.Intent{sel(node("A")), gesture.Gate{Ref: node("A"), At: at(124, 76)}},
		},
		"gate bars on the hop": {
			script: new(script).click(at(138, 100), 0),
			want:   []gesture.Intent{sel(scene.HopRef("AB")), gesture.Gate{Ref: scene.HopRef("AB"), At: at(138, 100)}},
		},
		"state badge": {
			script: new(script).click(at(76, 76), 0),
			want:   []gesture.Intent{sel(node("A")), gesture.State{Node: "A", At: at(76, 76)}},
		},
		"drag moves and snaps to a line": {
			script: new(script).drag(at(300, 300), at(204, 397), p, 0),
			want:   []gesture.Intent{sel(node("D")), gesture.Move{To: to(node("D"), 204, 397)}},
		},
		"drag snaps to the column above": {
			script: new(script).drag(at(300, 300), at(304, 400), p, 0),
			want:   []gesture.Intent{sel(node("D")), gesture.Move{To: to(node("D"), 300, 400)}},
		},
		"shift pressed later does not snap": {
			script: new(script).down(at(300, 300), p, 0).move(at(302, 350), 0).move(at(304, 400), gesture.Shift).up(at(304, 400), p, gesture.Shift),
			want:   []gesture.Intent{sel(node("D")), gesture.Move{To: to(node("D"), 304, 400)}},
		},
		"drag of a selection moves all of it": {
			script: new(script).click(at(300, 300), 0).click(at(550, 280), gesture.Ctrl).drag(at(300, 300), at(330, 450), p, gesture.Ctrl),
			want: []gesture.Intent{
				sel(node("D")), sel(node("D"), scene.NoteRef("N")),
				gesture.Move{To: map[scene.Ref]scene.Point{node("D"): at(330, 450), scene.NoteRef("N"): at(530, 400)}},
			},
		},
		"drop on a hop asks to insert": {
			script: new(script).drag(at(300, 300), at(400, 102), p, 0),
			want:   []gesture.Intent{sel(node("D")), gesture.Insert{Node: "D", Hop: "BC", To: to(node("D"), 400, 100)}},
		},
		"escape ends a drag without a trace": {
			script: new(script).down(at(300, 300), p, 0).move(at(400, 400), 0).key(gesture.KeyEscape, 0).up(at(400, 400), p, 0),
			want:   []gesture.Intent{sel(node("D"))},
		},
		"second button ends a drag": {
			script: new(script).down(at(300, 300), p, 0).move(at(400, 400), 0).down(at(400, 400), s2, 0).up(at(400, 400), s2, 0).up(at(400, 400), p, 0),
			want:   []gesture.Intent{sel(node("D"))},
		},
		"alt drag detaches": {
			script: new(script).drag(at(300, 100), at(300, 220), p, gesture.Alt),
			want:   []gesture.Intent{sel(node("B")), gesture.Detach{Node: "B", To: at(300, 220)}},
		},
		"shift drag connects": {
			script: new(script).drag(at(500, 100), at(300, 300), p, gesture.Shift),
			want:   []gesture.Intent{gesture.Connect{From: "C", To: "D", At: at(300, 300)}},
		},
		"middle drag connects": {
			script: new(script).drag(at(500, 100), at(300, 300), mid, 0),
			want:   []gesture.Intent{gesture.Connect{From: "C", To: "D", At: at(300, 300)}},
		},
		"handle drag connects": {
			script: new(script).move(at(510, 100), 0).drag(at(527, 100), at(300, 300), p, 0),
			want:   []gesture.Intent{gesture.Connect{From: "C", To: "D", At: at(300, 300)}},
		},
		"connecting twice is refused": {
			script: new(script).drag(at(100, 100), at(300, 100), p, gesture.Shift),
		},
		"connecting to itself is refused": {
			script: new(script).down(at(100, 100), p, gesture.Shift).move(at(130, 130), gesture.Shift).move(at(100, 100), gesture.Shift).up(at(100, 100), p, gesture.Shift),
		},
		"the policy decides about targets": {
			cfg:    gesture.Config{CanConnect: func(_, to scene.ID) bool { return to == "A" }},
			script: new(script).drag(at(300, 300), at(100, 100), p, gesture.Shift).drag(at(300, 300), at(500, 100), p, gesture.Shift),
			want:   []gesture.Intent{gesture.Connect{From: "D", To: "A", At: at(100, 100)}},
		},
		"hop dropped on empty asks for a node": {
			script: new(script).drag(at(500, 100), at(650, 150), p, gesture.Shift),
			want:   []gesture.Intent{gesture.ConnectNew{From: "C", At: at(650, 150), Document: at(650, 150)}},
		},
		"hop dropped beside the canvas is nothing": {
			script: new(script).drag(at(500, 100), at(850, 150), p, gesture.Shift),
		},
		"end of a selected hop is rewired": {
			script: new(script).click(at(400, 100), 0).drag(at(475, 100), at(300, 300), p, 0),
			want:   []gesture.Intent{sel(scene.HopRef("BC")), gesture.Rewire{Hop: "BC", From: "B", To: "D"}},
		},
		"start of a selected hop is rewired": {
			script: new(script).click(at(400, 100), 0).drag(at(326, 100), at(300, 300), p, 0),
			want:   []gesture.Intent{sel(scene.HopRef("BC")), gesture.Rewire{Hop: "BC", From: "D", To: "C"}},
		},
		"control click toggles a hop": {
			script: new(script).click(at(400, 100), gesture.Ctrl),
			want:   []gesture.Intent{gesture.ToggleHop{Hop: "BC"}},
		},
		"middle click toggles a hop": {
			script: new(script).down(at(400, 100), mid, 0).up(at(400, 100), mid, 0),
			want:   []gesture.Intent{gesture.ToggleHop{Hop: "BC"}},
		},
		"control shift click deletes a hop": {
			script: new(script).click(at(400, 100), gesture.Ctrl|gesture.Shift),
			want:   []gesture.Intent{gesture.Delete{Refs: []scene.Ref{scene.HopRef("BC")}}},
		},
		"control shift click opens the file of a node": {
			script: new(script).click(at(300, 100), gesture.Ctrl|gesture.Shift),
			want:   []gesture.Intent{gesture.Open{Node: "B"}},
		},
		"right click selects and opens the menu": {
			script: new(script).down(at(300, 100), s2, 0).up(at(300, 100), s2, 0),
			want: []gesture.Intent{sel(node("B")), gesture.Menu{
				Hit: scene.Hit{Ref: node("B"), Part: scene.PartBody}, At: at(300, 100), Document: at(300, 100),
			}},
		},
		"right click on empty": {
			script: new(script).down(at(50, 500), s2, 0).up(at(50, 500), s2, 0),
			want:   []gesture.Intent{gesture.Menu{At: at(50, 500), Document: at(50, 500)}},
		},
		"lasso": {
			script: new(script).drag(at(60, 60), at(350, 150), p, 0),
			want:   []gesture.Intent{sel(node("A"), node("B"), scene.HopRef("AB"))},
		},
		"lasso with control adds": {
			script: new(script).click(at(300, 300), 0).drag(at(60, 60), at(150, 150), p, gesture.Ctrl),
			want:   []gesture.Intent{sel(node("D")), sel(node("D"), node("A"))},
		},
		"middle drag on empty pans": {
			script: new(script).down(at(50, 500), mid, 0).move(at(60, 520), 0).up(at(60, 520), mid, 0),
			want:   []gesture.Intent{gesture.View{View: scene.View{Zoom: 1, Offset: at(10, 20)}}},
		},
		"space drag pans and shows no fields": {
			script: new(script).click(at(300, 100), 0).key(gesture.KeySpace, 0).down(at(50, 500), p, 0).move(at(60, 520), 0).up(at(60, 520), p, 0).keyUp(gesture.KeySpace),
			want:   []gesture.Intent{sel(node("B")), gesture.View{View: scene.View{Zoom: 1, Offset: at(10, 20)}}},
		},
		"space shows fields": {
			script: new(script).click(at(300, 100), 0).key(gesture.KeySpace, 0).keyUp(gesture.KeySpace),
			want:   []gesture.Intent{sel(node("B")), gesture.Fields{Node: "B"}},
		},
		"note corner resizes": {
			script: new(script).click(at(550, 280), 0).wait(time.Second).drag(at(600, 320), at(640, 350), p, 0),
			want: []gesture.Intent{sel(scene.NoteRef("N")), gesture.ResizeNote{
				Note: "N", Rect: scene.Rect{Min: at(500, 250), Max: at(640, 350)},
			}},
		},
		"note never becomes smaller than a line": {
			script: new(script).click(at(550, 280), 0).wait(time.Second).drag(at(600, 320), at(400, 200), p, 0),
			want: []gesture.Intent{sel(scene.NoteRef("N")), gesture.ResizeNote{
				Note: "N", Rect: scene.Rect{Min: at(500, 250), Max: at(532, 282)},
			}},
		},
		"arrow keys walk and enter edits": {
			script: new(script).key(gesture.KeyRight, 0).key(gesture.KeyRight, 0).key(gesture.KeyDownArrow, 0).key(gesture.KeyEnter, 0),
			want: []gesture.Intent{
				sel(node("A")), sel(node("B")), sel(node("D")), gesture.Edit{Ref: node("D")},
			},
		},
		"tab visits every node and leaves": {
			script: new(script).key(gesture.KeyTab, 0).key(gesture.KeyTab, 0).key(gesture.KeyTab, 0).key(gesture.KeyTab, 0).key(gesture.KeyTab, 0),
			want: []gesture.Intent{
				sel(node("A")), sel(node("B")), sel(node("C")), sel(node("D")), gesture.Leave{},
			},
		},
		"shift tab goes back": {
			script: new(script).key(gesture.KeyTab, 0).key(gesture.KeyTab, gesture.Shift),
			want:   []gesture.Intent{sel(node("A")), gesture.Leave{Backwards: true}},
		},
		"shift arrow moves by a grid step": {
			script: new(script).click(at(300, 300), 0).key(gesture.KeyLeft, gesture.Shift),
			want:   []gesture.Intent{sel(node("D")), gesture.Move{To: to(node("D"), 284, 300)}},
		},
		"delete": {
			script: new(script).click(at(300, 300), 0).key(gesture.KeyDelete, 0),
			want:   []gesture.Intent{sel(node("D")), gesture.Delete{Refs: []scene.Ref{node("D")}}},
		},
		"delete without a selection": {script: new(script).key(gesture.KeyDelete, 0)},
		"z opens the file": {
			script: new(script).click(at(300, 300), 0).key(gesture.KeyZ, 0),
			want:   []gesture.Intent{sel(node("D")), gesture.Open{Node: "D"}},
		},
		"menu key": {
			script: new(script).click(at(300, 300), 0).key(gesture.KeyMenu, 0),
			want: []gesture.Intent{sel(node("D")), gesture.Menu{
				Hit: scene.Hit{Ref: node("D"), Part: scene.PartBody}, At: at(300, 300), Document: at(300, 300),
			}},
		},
		"insert key adds at the pointer": {
			script: new(script).move(at(40, 450), 0).key(gesture.KeyInsert, 0),
			want:   []gesture.Intent{gesture.Add{At: at(40, 450), Document: at(40, 450)}},
		},
		"tool tip comes late and goes at a press": {
			script: new(script).move(at(300, 300), 0).tick().wait(500*time.Millisecond).tick().down(at(300, 300), p, 0).up(at(300, 300), p, 0).wait(time.Second).tick(),
			want: []gesture.Intent{
				gesture.Tip{Hit: scene.Hit{Ref: node("D"), Part: scene.PartBody}, At: at(300, 300)},
				gesture.Tip{At: at(300, 300)},
				sel(node("D")),
			},
		},
		"palette item onto a hop": {
			script: new(script).
				add(gesture.Event{Kind: gesture.DragOver, At: at(400, 105), Item: "SortRows"}).
				add(gesture.Event{Kind: gesture.DragDrop, At: at(400, 105), Item: "SortRows"}),
			want: []gesture.Intent{gesture.Place{Item: "SortRows", At: at(400, 105), Document: at(400, 105), Hop: "BC"}},
		},
		"palette item onto the canvas": {
			script: new(script).add(gesture.Event{Kind: gesture.DragDrop, At: at(50, 500), Item: "SortRows"}),
			want:   []gesture.Intent{gesture.Place{Item: "SortRows", At: at(50, 500), Document: at(50, 500)}},
		},
		"read-only selects": {
			cfg:    gesture.Config{ReadOnly: true},
			script: new(script).click(at(300, 300), 0),
			want:   []gesture.Intent{sel(node("D"))},
		},
		"read-only changes nothing": {
			cfg: gesture.Config{ReadOnly: true},
			script: new(script).drag(at(300, 300), at(400, 400), p, 0).drag(at(300, 300), at(100, 100), p, gesture.Shift).
				click(at(50, 500), 0).click(at(50, 500), 0).key(gesture.KeyDelete, 0).key(gesture.KeyLeft, gesture.Shift).
				add(gesture.Event{Kind: gesture.DragDrop, At: at(50, 500), Item: "SortRows"}),
			want: []gesture.Intent{sel(node("D")), sel()},
		},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			got := play(machine(c.cfg), c.script)
			if len(got) == 0 && len(c.want) == 0 {
				return
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %#v\nwant %#v", got, c.want)
			}
		})
	}
}

func TestWheelZoomsAtThePointer(t *testing.T) {
	m := machine(gesture.Config{})
	before := m.View().ToDocument(at(300, 200))
	m.Handle(gesture.Event{Kind: gesture.Scroll, At: at(300, 200), Delta: at(0, 3)})
	after := m.View().ToDocument(at(300, 200))
	if m.View().Zoom <= 1 || before.Sub(after).Length() > 1e-9 {
		t.Errorf("zoom %v moved the point under the pointer from %v to %v", m.View().Zoom, before, after)
	}
}

func TestCancelledDragPutsNodesBack(t *testing.T) {
	m := machine(gesture.Config{})
	play(m, new(script).down(at(300, 300), gesture.Primary, 0).move(at(420, 430), 0))
	if p, _ := m.Scene().Place(node("D")); p == at(300, 300) {
		t.Fatal("the node does not follow the pointer")
	}
	play(m, new(script).key(gesture.KeyEscape, 0))
	if p, _ := m.Scene().Place(node("D")); p != at(300, 300) {
		t.Errorf("after Escape the node is at %v", p)
	}
}

func TestDragNearTheEdgePans(t *testing.T) {
	m := machine(gesture.Config{})
	play(m, new(script).down(at(300, 300), gesture.Primary, 0).move(at(798, 300), 0))
	before, _ := m.Scene().Place(node("D"))
	s := new(script)
	for range 20 {
		s.tick()
	}
	play(m, s)
	after, _ := m.Scene().Place(node("D"))
	if m.View().Offset.X >= 0 || after.X <= before.X {
		t.Errorf("view %v, node went from %v to %v", m.View().Offset, before, after)
	}
}

func TestTraceWhileConnecting(t *testing.T) {
	m := machine(gesture.Config{})
	play(m, new(script).down(at(100, 100), gesture.Primary, gesture.Shift).move(at(300, 295), gesture.Shift))
	trace := m.Trace()
	if !trace.Connecting || trace.Source != "A" || trace.Wire == nil {
		t.Fatalf("trace is %+v", trace)
	}
	want := map[scene.ID]bool{"C": true, "D": true}
	if !reflect.DeepEqual(trace.Targets, want) {
		t.Errorf("targets are %v, want %v", trace.Targets, want)
	}
	if got := trace.Wire.To; got != at(276, 300) {
		t.Errorf("wire ends at %v, want the left side of D", got)
	}
}

func TestConnectByKeyboard(t *testing.T) {
	m := machine(gesture.Config{})
	m.SetSelection(scene.Select(node("B")))
	m.StartConnect("B")
	got := play(m, new(script).key(gesture.KeyDownArrow, 0).key(gesture.KeyEnter, 0))
	want := []gesture.Intent{gesture.Connect{From: "B", To: "D", At: at(300, 300)}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
	if m.Busy() {
		t.Error("the gesture goes on")
	}
}

func TestConnectByMenuEndsWithAClick(t *testing.T) {
	m := machine(gesture.Config{})
	m.StartConnect("C")
	got := play(m, new(script).move(at(290, 290), 0).click(at(300, 300), 0))
	want := []gesture.Intent{gesture.Connect{From: "C", To: "D", At: at(300, 300)}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
}

func TestMiniMapDragMovesTheView(t *testing.T) {
	m := machine(gesture.Config{MiniMap: true})
	m.SetView(scene.View{Zoom: 2})
	mini := scene.NewMiniMap(m.Scene().Extent(), m.View(), m.Size())
	from := mini.View.Centre()
	got := play(m, new(script).drag(from, from.Add(at(10, 0)), gesture.Primary, 0))
	if len(got) == 0 || m.View().Offset.X >= 0 {
		t.Errorf("view is %v after %v", m.View(), got)
	}
	for _, i := range got {
		if i.Name() != gesture.NameView {
			t.Errorf("unexpected %#v", i)
		}
	}
}

func TestNewSceneKeepsWhatExists(t *testing.T) {
	m := machine(gesture.Config{})
	m.SetSelection(scene.Select(node("A"), node("D"), scene.HopRef("AB")))
	m.SetScene(scene.New(scene.Graph{Nodes: []scene.Node{{ID: "D"}}}, ruler{}, scene.Options{}))
	if want := scene.Select(node("D")); !m.Selection().Equal(want) {
		t.Errorf("selection is %v, want %v", m.Selection(), want)
	}
}

func TestEventsBeforeASceneAreIgnored(t *testing.T) {
	m := gesture.New(gesture.Config{})
	if r := m.Handle(gesture.Event{Kind: gesture.Down}); len(r.Intents) != 0 {
		t.Errorf("got %v", r.Intents)
	}
	m.FitAll()
	m.StartConnect("A")
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[gesture.Name]bool{}
	for _, n := range gesture.Names() {
		if seen[n] {
			t.Errorf("%q is listed twice", n)
		}
		seen[n] = true
	}
	for _, i := range []gesture.Intent{
		gesture.Select{},
		gesture.Move{},
		gesture.Detach{},
		gesture.Insert{},
		gesture.Connect{},
		gesture.ConnectNew{},
		gesture.Rewire{},
		gesture.ToggleHop{},
		gesture.Delete{},
		gesture.Edit{},
		gesture.Open{},
		gesture.Fields{},
		gesture.Add{},
		gesture.Place{},
		gesture.Menu{},
		gesture.Gate{},
		gesture.State{},
		gesture.ResizeNote{},
		gesture.View{},
		gesture.Tip{},
		gesture.Leave{},
	} {
		if !seen[i.Name()] {
			t.Errorf("%T has a name that is not listed: %q", i, i.Name())
		}
		delete(seen, i.Name())
	}
	if len(seen) > 0 {
		t.Errorf("no intention for %v", seen)
	}
}
