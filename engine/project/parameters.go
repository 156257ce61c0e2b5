package project

// Parameter is one named parameter of a pipeline or workflow.
type Parameter struct {
	Name        string
	Default     string // stored as written, resolved where it is used
	Description string
	Value       string // given by the caller; empty when none was
}

// ActivatedParameters returns the variables that activating the parameters
// sets in this scope: a given value; else nothing when the parameter has a
// default and the scope already has a value that is not empty, which then
// wins; else the default, and an empty default hides an inherited value.
// Values are not resolved. The scope is only read.
func ActivatedParameters(scope *Variables, parameters []Parameter) map[string]string {
	values := map[string]string{}
	for _, p := range parameters {
		if p.Name == "" {
			continue
		}
		if p.Value != "" {
			values[p.Name] = p.Value
			continue
		}
		if existing, _ := scope.Get(p.Name); p.Default != "" && existing != "" {
			continue
		}
		values[p.Name] = p.Default
	}
	return values
}

// ActivateParameters sets what [ActivatedParameters] says.
func ActivateParameters(scope *Variables, parameters []Parameter) {
	scope.SetAll(ActivatedParameters(scope, parameters))
}

// WithValues returns a copy of the parameters with the values of the map; a
// parameter that the map does not name has no value. Names of the map that are
// no parameter are returned too, in no order, for whoever warns about them.
func WithValues(parameters []Parameter, values map[string]string) (given []Parameter, unknown []string) {
	known := map[string]bool{}
	given = make([]Parameter, len(parameters))
	for i, p := range parameters {
		p.Value = values[p.Name]
		known[p.Name] = true
		given[i] = p
	}
	for name := range values {
		if !known[name] {
			unknown = append(unknown, name)
		}
	}
	return given, unknown
}

// ParameterMapping is one line of the parameter table of an action that starts
// a pipeline or workflow.
type ParameterMapping struct {
	Name  string // of the child's parameter
	Field string // of the current result row; wins over Value when not empty
	Value string // may hold variables
}

// ChildCall is what an action knows when it starts a child.
type ChildCall struct {
	Mappings []ParameterMapping
	PassAll  bool     // <pass_all_parameters>; absent in the file is false
	Declared []string // names of the child's parameters
	Scope    *Variables
	// Row gives a field of the current result row as text. It is nil when the
	// child does not run once per row; fields are then empty.
	Row func(field string) (string, bool)
	// Parent holds the values of the parent workflow's own parameters, and
	// FromPrevious is <params_from_previous>. Both matter to workflows only.
	Parent       map[string]string
	FromPrevious bool
}

// ChildArguments is what a child gets, apart from the copy of the parent's
// variables that every child gets.
type ChildArguments struct {
	Parameters map[string]string // values of declared parameters
	Variables  map[string]string // plain variables to set in the child
	Action     map[string]string // variables to set in the action's own scope
}

// Pipeline gives the arguments of a pipeline that an action starts. Listed
// values are set in the action too; a listed name that the pipeline does not
// declare becomes a plain variable of it.
func (c ChildCall) Pipeline() (ChildArguments, error) {
	listed, err := c.listed()
	if err != nil {
		return ChildArguments{}, err
	}
	args := ChildArguments{Parameters: map[string]string{}, Variables: map[string]string{}, Action: listed}
	declared := map[string]bool{}
	for _, name := range c.Declared {
		declared[name] = true
		if value, ok := listed[name]; ok {
			args.Parameters[name] = value
		} else if value, ok := c.Scope.Get(name); ok && c.PassAll {
			args.Parameters[name] = value
		}
	}
	for name, value := range listed {
		if !declared[name] {
			args.Variables[name] = value
		}
	}
	return args, nil
}

// Workflow gives the arguments of a workflow that an action starts. Listed
// names that the workflow does not declare are not passed.
func (c ChildCall) Workflow() (ChildArguments, error) {
	listed, err := c.listed()
	if err != nil {
		return ChildArguments{}, err
	}
	args := ChildArguments{Parameters: map[string]string{}}
	for _, name := range c.Declared {
		inherited, fromParent := c.Parent[name]
		switch {
		case listed[name] != "":
			args.Parameters[name] = listed[name]
		case fromParent && (c.PassAll || c.FromPrevious):
			args.Parameters[name] = inherited
		}
	}
	return args, nil
}

// listed resolves the table against the scope as it was before any of the
// values is set.
func (c ChildCall) listed() (map[string]string, error) {
	values := map[string]string{}
	for _, m := range c.Mappings {
		if m.Name == "" {
			continue
		}
		if m.Field != "" {
			values[m.Name] = c.field(m.Field)
			continue
		}
		value, err := c.Scope.Resolve(m.Value)
		if err != nil {
			return nil, err
		}
		values[m.Name] = value
	}
	return values, nil
}

func (c ChildCall) field(name string) string {
	if c.Row == nil {
		return ""
	}
	value, _ := c.Row(name)
	return value
}
