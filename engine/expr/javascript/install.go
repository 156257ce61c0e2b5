package javascript

import (
	"fmt"

	"github.com/dop251/goja"
)

// Values of pipeline_Status.
const (
	SkipPipeline     = 1
	ContinuePipeline = 0
	AbortPipeline    = -1
	ErrorPipeline    = -2
)

const noJava = "Java classes are not available"

// javaMethods gives JavaScript's values the methods of Java's that scripts rely
// on.
const javaMethods = `(function () {
	function add(proto, methods) {
		for (var name in methods) {
			if (!(name in proto)) {
				Object.defineProperty(proto, name, { value: methods[name], enumerable: false, configurable: true, writable: true });
			}
		}
	}
	add(String.prototype, {
		equals: function (o) { return o !== null && o !== undefined && String(this) === String(o); },
		equalsIgnoreCase: function (o) { return o !== null && o !== undefined && String(this).toLowerCase() === String(o).toLowerCase(); },
		contains: function (o) { return String(this).indexOf(String(o)) >= 0; },
		isEmpty: function () { return this.length === 0; },
		isBlank: function () { return String(this).trim().length === 0; },
		compareTo: function (o) { var a = String(this), b = String(o); return a < b ? -1 : a > b ? 1 : 0; },
		compareToIgnoreCase: function (o) { return String(this).toLowerCase().compareTo(String(o).toLowerCase()); },
		matches: function (p) { return __matches(String(this), String(p)); },
		replaceFirst: function (p, w) { return __replaceFirst(String(this), String(p), String(w)); },
		toCharArray: function () { return String(this).split(""); },
		hashCode: function () { var h = 0; for (var i = 0; i < this.length; i++) { h = (31 * h + this.charCodeAt(i)) | 0; } return h; },
		strip: function () { return String(this).trim(); }
	});
	add(Number.prototype, {
		intValue: function () { return this < 0 ? Math.ceil(this) : Math.floor(this); },
		longValue: function () { return this < 0 ? Math.ceil(this) : Math.floor(this); },
		doubleValue: function () { return Number(this); },
		floatValue: function () { return Number(this); },
		equals: function (o) { return Number(this) === Number(o); },
		compareTo: function (o) { return this < o ? -1 : this > o ? 1 : 0; }
	});
	add(Boolean.prototype, {
		booleanValue: function () { return this == true; },
		equals: function (o) { return (this == true) === (o == true); }
	});
	add(Date.prototype, {
		before: function (o) { return this.getTime() < o.getTime(); },
		after: function (o) { return this.getTime() > o.getTime(); },
		equals: function (o) { return o !== null && o !== undefined && this.getTime() === o.getTime(); },
		compareTo: function (o) { var a = this.getTime(), b = o.getTime(); return a < b ? -1 : a > b ? 1 : 0; }
	});
	add(Array.prototype, {
		size: function () { return this.length; },
		get: function (i) { return this[i]; },
		isEmpty: function () { return this.length === 0; }
	});
})()`

// install fills the global scope.
func (r *Runtime) install() {
	set := func(name string, v any) {
		if err := r.vm.GlobalObject().DefineDataProperty(name, r.vm.ToValue(v), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			panic(fmt.Sprintf("javascript: define %s: %v", name, err)) // a fresh global scope takes any name
		}
	}
	for _, group := range []map[string]helper{textHelpers, dateHelpers, otherHelpers} {
		for name, h := range group {
			set(name, r.function(name, h))
		}
	}
	set("SKIP_PIPELINE", SkipPipeline)
	set("CONTINUE_PIPELINE", ContinuePipeline)
	set("ABORT_PIPELINE", AbortPipeline)
	set("ERROR_PIPELINE", ErrorPipeline)
	set("_PipelineName_", r.host.Pipeline)
	set("_TransformName_", r.host.Transform)
	for name := range javaRoots {
		r.forbid(name, noJava+": "+name)
	}
	for _, name := range unavailable {
		set(name, r.function(name, func(*Runtime, arguments) (any, error) {
			return nil, fmt.Errorf("the function %s is not available; use a transform or an action for it", name)
		}))
	}
	if _, err := r.vm.RunString(javaMethods); err != nil {
		panic(fmt.Sprintf("javascript: %v", err)) // fixed text
	}
}

// forbid makes the use of a global an error.
func (r *Runtime) forbid(name, message string) {
	get := r.vm.ToValue(func(goja.FunctionCall) goja.Value { panic(r.vm.NewTypeError(message)) })
	put := r.vm.ToValue(func(call goja.FunctionCall) goja.Value { return goja.Undefined() })
	if err := r.vm.GlobalObject().DefineAccessorProperty(name, get, put, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
		panic(fmt.Sprintf("javascript: define %s: %v", name, err))
	}
}

// unavailable functions act on the world in ways that transforms and actions do
// better.
var unavailable = []string{"fireToDB", "sendMail", "execProcess", "resolveIP", "copyFile", "moveFile", "LoadScriptFromTab", "appendToFile"}

// helper is one of Hop's script functions.
type helper func(r *Runtime, a arguments) (any, error)

func (r *Runtime) function(name string, h helper) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		v, err := h(r, arguments{r, call.Arguments})
		if err != nil {
			panic(r.vm.NewGoError(fmt.Errorf("%s: %w", name, err)))
		}
		if gv, ok := v.(goja.Value); ok {
			return gv
		}
		if v == nil {
			return goja.Null()
		}
		return r.vm.ToValue(v)
	}
}

// arguments of a call, converted as they are asked for.
type arguments struct {
	r    *Runtime
	list []goja.Value
}

func (a arguments) len() int { return len(a.list) }

// isNull says whether argument i is absent, null or undefined.
func (a arguments) isNull(i int) bool {
	return i >= len(a.list) || goja.IsNull(a.list[i]) || goja.IsUndefined(a.list[i])
}

func (a arguments) text(i int) string {
	if a.isNull(i) {
		return ""
	}
	return a.list[i].String()
}

func (a arguments) number(i int) float64 {
	if a.isNull(i) {
		return 0
	}
	return a.list[i].ToFloat()
}

func (a arguments) integer(i int) int {
	if a.isNull(i) {
		return 0
	}
	return int(a.list[i].ToInteger())
}

// need gives an error when there are fewer arguments.
func (a arguments) need(n int) error {
	if len(a.list) < n {
		return fmt.Errorf("it takes at least %d arguments, not %d", n, len(a.list))
	}
	return nil
}
