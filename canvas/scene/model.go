package scene

// ID names a node, a hop or a note. The scene only compares it; whoever builds
// the graph chooses it (a transform's name, for example). Nodes, hops and
// notes have separate name spaces.
type ID string

// Kind tells what a Ref points at.
type Kind uint8

// The kinds of things on a canvas. KindNone is the bare background.
const (
	KindNone Kind = iota
	KindNode
	KindHop
	KindNote
)

// Ref points at one thing on the canvas.
type Ref struct {
	Kind Kind
	ID   ID
}

// NodeRef points at a node.
func NodeRef(id ID) Ref { return Ref{KindNode, id} }

// HopRef points at a hop.
func HopRef(id ID) Ref { return Ref{KindHop, id} }

// NoteRef points at a note.
func NoteRef(id ID) Ref { return Ref{KindNote, id} }

// Tone is the meaning of a colour. A theme turns it into ink and ground.
type Tone uint8

// The tones, as the design's table of state roles lists them.
const (
	ToneNeutral Tone = iota
	ToneRun
	ToneOK
	ToneWarn
	ToneError
	ToneInterrupted
	ToneReuse
)

// State is what a run made of a node; it shows as a round badge at the top
// left of the tile. StateNone shows nothing.
type State uint8

// The states. StateNotReached and StateBlocked belong to a replay plan.
const (
	StateNone State = iota
	StateQueued
	StateRunning
	StateStopping
	StateSucceeded
	StatePartial
	StateFailed
	StateStopped
	StateSkipped
	StateInterrupted
	StateReused
	StateStalled
	StateNotReached
	StateBlocked
)

// look is how one badge is told apart: an icon, a tone and a word.
type look struct {
	icon, word string
	tone       Tone
}

var stateLooks = [...]look{
	StateNone:        {},
	StateQueued:      {"state-queued", "Queued", ToneNeutral},
	StateRunning:     {"state-running", "Running", ToneRun},
	StateStopping:    {"state-stopping", "Stopping", ToneWarn},
	StateSucceeded:   {"state-succeeded", "Succeeded", ToneOK},
	StatePartial:     {"state-partial", "Partial", ToneWarn},
	StateFailed:      {"state-failed", "Failed", ToneError},
	StateStopped:     {"state-stopped", "Stopped", ToneNeutral},
	StateSkipped:     {"state-skipped", "Skipped", ToneNeutral},
	StateInterrupted: {"state-interrupted", "Interrupted", ToneInterrupted},
	StateReused:      {"state-reused", "Reused", ToneReuse},
	StateStalled:     {"state-stalled", "Stalled", ToneWarn},
	StateNotReached:  {"plan-not-reached", "Not reached", ToneNeutral},
	StateBlocked:     {"check-block", "Blocked", ToneError},
}

// States lists every state that shows a badge.
func States() []State {
	states := make([]State, 0, len(stateLooks)-1)
	for s := StateQueued; int(s) < len(stateLooks); s++ {
		states = append(states, s)
	}
	return states
}

// Icon is the name of the badge's icon, "" for StateNone.
func (s State) Icon() string { return stateLooks[s].icon }

// Tone is the meaning of the badge's colour.
func (s State) Tone() Tone { return stateLooks[s].tone }

// String is the word that goes with the badge, "" for StateNone.
func (s State) String() string { return stateLooks[s].word }

// Gate is the badge of a replay gate at the top right of the tile, and the
// colour of the double bar across the hops it cuts.
type Gate uint8

// The five gate badges.
const (
	GateNone Gate = iota
	GateArmed
	GateSealed
	GateStale
	GateInterrupted
	GateCorrupt
)

var gateLooks = [...]look{
	GateNone:        {},
	GateArmed:       {"gate-armed", "Armed", ToneNeutral},
	GateSealed:      {"gate-sealed", "Sealed", ToneOK},
	GateStale:       {"gate-stale", "Stale", ToneWarn},
	GateInterrupted: {"gate-interrupted", "Interrupted", ToneInterrupted},
	GateCorrupt:     {"gate-corrupt", "Corrupt", ToneError},
}

// Gates lists the five badges.
func Gates() []Gate {
	return []Gate{GateArmed, GateSealed, GateStale, GateInterrupted, GateCorrupt}
}

// Icon is the name of the badge's icon, "" for GateNone.
func (g Gate) Icon() string { return gateLooks[g].icon }

// Tone is the meaning of the badge's colour.
func (g Gate) Tone() Tone { return gateLooks[g].tone }

// String is the word that goes with the badge, "" for GateNone.
func (g Gate) String() string { return gateLooks[g].word }

// Plan is the class of a node or hop in a replay plan. It changes ground and
// border of a tile, and colour and dashes of a hop.
type Plan uint8

// The plan classes. PlanNone is an ordinary graph.
const (
	PlanNone Plan = iota
	PlanReuse
	PlanRun
	PlanNotReached
	PlanBlocked
)

// HopKind is the sort of a hop; it decides colour, dashes and the default word.
type HopKind uint8

// The hop kinds of pipelines (main, error, info) and workflows (success,
// failure, always). Success looks like main, failure like error.
const (
	HopMain HopKind = iota
	HopError
	HopInfo
	HopSuccess
	HopFailure
	HopAlways
)

// Node is one tile with its label and badges.
type Node struct {
	ID  ID
	Pos Point // centre of the tile, document units

	Label string
	Icon  string // name of an icon; an unknown one shows as a plain tile

	Outside  bool // touches the outside world: tinted tile
	Disabled bool
	State    State
	Gate     Gate
	Plan     Plan

	Metric     string // line under the name; empty shows none
	MetricTone Tone
	Copies     string // inside at the bottom right, such as "×2"
	Flag       string // plate above the tile, such as "Start here"
}

// Hop is one edge from the tile From to the tile To.
type Hop struct {
	ID       ID
	From, To ID
	Kind     HopKind
	Label    string // plate at the middle; empty shows the kind's own word, if any
	Disabled bool
	Plan     Plan
	Gate     Gate // double bar near From
}

// Word is the text on the hop's plate: its label, else "error" for an error hop.
func (h Hop) Word() string {
	if h.Label == "" && h.Kind == HopError {
		return "error"
	}
	return h.Label
}

// Note is a text on a coloured card, in document units.
type Note struct {
	ID   ID
	Rect Rect
	Text string // lines are separated by \n and wrapped to the card
}

// Graph is all that a scene shows. Later entries are drawn over earlier ones;
// notes lie under hops, hops under nodes.
type Graph struct {
	Nodes []Node
	Hops  []Hop
	Notes []Note
}

// Sizes of the design, in document units (pixels at 100 %).
const (
	TileSize      = 48.0
	TileRadius    = 8.0
	IconSize      = 24.0
	StateSize     = 18.0
	GateSize      = 20.0
	NameSize      = 12.0
	CaptionSize   = 11.0
	LabelWidth    = 128.0 // at most, before the name breaks
	LabelPitch    = 15.0  // from the tile to the name's baseline, and line to line
	HandleSize    = 12.0
	GridSize      = 16.0
	HopWidth      = 1.5
	ArrowSize     = 8.0
	NotePadding   = 12.0
	minLabelSize  = 10.0
	minLabelWidth = 76.0
	maxNameLines  = 2
)
