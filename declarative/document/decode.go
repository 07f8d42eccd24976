package document

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/declarative/expression"
)

// decoder builds typed components from a resolved tree.
type decoder struct {
	problems   Problems
	stream     string // the stream that is being built
	level      Level  // of problems
	components int
	parents    int
	templates  int
	cache      map[templateKey]*expression.Template
	params     bool // a template of the current component reads its parameters
}

type templateKey struct {
	source string
	scope  expression.Scope
}

var errMany = fmt.Errorf("the document has more than %d components", MaxComponents)

func (d *decoder) problem(path, message, fix string) {
	d.problems = append(d.problems, Problem{Level: d.level, Path: path, Stream: d.stream, Message: message, Fix: fix})
}

func (d *decoder) unsupported(path, component, why string) {
	d.problems = append(d.problems, Problem{Level: d.level, Path: path, Stream: d.stream, Component: component,
		Message: "uses " + component + ", which is not supported" + why, Fix: "Leave this stream out, or write it without " +
			component + "."})
}

func (d *decoder) warn(path, message, fix string) {
	d.problems = append(d.problems, Problem{Level: Warning, Path: path, Stream: d.stream, Message: message, Fix: fix})
}

// component builds the component at n, which must be one of the types in only. It returns nil after a problem.
func (d *decoder) component(n *Node, path string, only []string) Component {
	kind := n.Member("type").String()
	if n.Kind != Map {
		d.problem(path, "is "+n.Kind.String(), "Write an object with a type.")
		return nil
	}
	if kind == "" {
		d.problem(path, "has no type", "Add the member type, such as "+only[0]+".")
		return nil
	}
	goType, known := componentTypes[kind]
	switch {
	case n.Member("class_name") != nil || strings.HasPrefix(kind, "Custom"):
		why := " because it is written in Python"
		if class := n.Member("class_name").String(); class != "" {
			why += " (" + class + ")"
		}
		d.unsupported(path, kind, why)
		return nil
	case !known || !slices.Contains(only, kind):
		d.unsupported(path, kind, "")
		return nil
	}
	value := reflect.New(goType)
	d.fill(n, path, value)
	return value.Interface().(Component)
}

// fill builds the members of a component.
func (d *decoder) fill(n *Node, path string, value reflect.Value) {
	if d.components++; d.components > MaxComponents {
		panic(errMany)
	}
	outer := d.params
	d.params = false
	c := value.Interface().(Component)
	base := c.base()
	base.Type, base.Path = n.Member("type").String(), path
	target := value.Elem()
	known := map[string]bool{"type": true, parametersName: true}
	for i := range target.NumField() {
		field := target.Type().Field(i)
		name := field.Tag.Get("decl")
		if name == "" {
			continue
		}
		known[name] = true
		member := n.Member(name)
		if member == nil || member.Kind == Null || member.Kind == Text && member.Text == "" {
			d.absent(field, path, name, target.Field(i))
			continue
		}
		if why := field.Tag.Get("refuse"); why != "" {
			if !member.isFalsy() {
				d.unsupported(path+"."+name, name, ". "+strings.TrimSuffix(why, "."))
			}
			continue
		}
		d.member(member, path+"."+name, field, target.Field(i))
	}
	d.unknown(n, path, base.Type, known)
	if d.params {
		base.Parameters = n.Member(parametersName).Value()
	}
	d.params = outer
	switch c := c.(type) {
	case *Selective:
		c.Unsupported = d.choices(n, path, c)
	case *Requester:
		c.setLoginAddress()
	}
}

func (d *decoder) absent(field reflect.StructField, path, name string, target reflect.Value) {
	if field.Tag.Get("need") == "yes" {
		d.problem(path, "has no member "+name, "Add "+name+".")
	}
	if field.Tag.Get("default") == "true" {
		target.SetBool(true)
	}
}

// unknown warns about members that the component does not have. Parameters fill members of any name.
func (d *decoder) unknown(n *Node, path, kind string, known map[string]bool) {
	if componentTypes[kind] == reflect.TypeFor[AbsentSchema]() {
		d.warn(path, "is a schema outside of this file", "Write the schema into the file to have named fields.")
		return
	}
	parameters := n.Member(parametersName)
	for _, name := range n.Names {
		if !known[name] && parameters.Member(name) == nil {
			d.warn(path+"."+name, "is not a member of "+kind, "Remove it, or correct its name.")
		}
	}
}

// member builds one member by the Go type of its field.
func (d *decoder) member(n *Node, path string, field reflect.StructField, target reflect.Value) {
	scope := scopes[field.Tag.Get("scope")]
	switch into := target.Addr().Interface().(type) {
	case *string:
		*into = d.text(n, path, field.Tag.Get("enum"))
	case *bool:
		*into = d.boolean(n, path)
	case *int:
		*into = d.integer(n, path)
	case *[]string:
		*into = d.texts(n, path)
	case *[]int:
		for i, item := range d.list(n, path) {
			*into = append(*into, d.integer(item, fmt.Sprintf("%s[%d]", path, i)))
		}
	case *[][]string:
		for i, item := range d.list(n, path) {
			*into = append(*into, d.texts(item, fmt.Sprintf("%s[%d]", path, i)))
		}
	case *Template:
		*into = d.template(n, path, scope)
	case *[]Template:
		*into = d.templateList(n, path, scope)
	case *Inputs:
		*into = d.inputs(n, path, scope)
	case *PrimaryKey:
		*into = d.primaryKey(n, path)
	case **Node:
		*into = n
	case *map[string]Component:
		*into = d.named(n, path, onlyTypes(field))
	default:
		d.componentMember(n, path, field, target)
	}
}

// onlyTypes returns the types that a member accepts.
func onlyTypes(field reflect.StructField) []string {
	only := field.Tag.Get("only")
	if group, ok := groups[only]; ok {
		return group
	}
	return strings.Fields(only)
}

// componentMember builds a member that holds a component or a list of them.
func (d *decoder) componentMember(n *Node, path string, field reflect.StructField, target reflect.Value) {
	if target.Kind() != reflect.Slice {
		if made := d.one(n, path, field, target.Type()); made.IsValid() {
			target.Set(made)
		}
		return
	}
	items := n.Items
	if n.Kind != List {
		items = []*Node{n}
	}
	for i, item := range items {
		at := path
		if n.Kind == List {
			at = fmt.Sprintf("%s[%d]", path, i)
		}
		if made := d.one(item, at, field, target.Type().Elem()); made.IsValid() {
			target.Set(reflect.Append(target, made))
		}
	}
}

// one builds a single component of a Go type. The result is invalid after a problem.
func (d *decoder) one(n *Node, path string, field reflect.StructField, want reflect.Type) reflect.Value {
	if want == reflect.TypeFor[*MinMax]() && n.Kind == Text {
		m := &MinMax{Base: Base{Type: "MinMaxDatetime", Path: path}, Datetime: d.template(n, path, settings)}
		return reflect.ValueOf(m)
	}
	if field.Tag.Get("any") == "yes" { // a part without a type
		if n.Kind != Map {
			d.problem(path, "is "+n.Kind.String(), "Write an object.")
			return reflect.Value{}
		}
		made := reflect.New(want.Elem())
		d.fill(n, path, made)
		return made
	}
	if want == reflect.TypeFor[*Parent]() {
		if d.parents++; d.parents > MaxParents {
			d.problem(path, fmt.Sprintf("has more than %d parents above each other", MaxParents), "Remove a level.")
			d.parents--
			return reflect.Value{}
		}
		defer func() { d.parents-- }()
	}
	c := d.component(n, path, onlyTypes(field))
	if c == nil {
		return reflect.Value{}
	}
	made := reflect.ValueOf(c)
	if !made.Type().AssignableTo(want) {
		d.problem(path, "has the type "+c.base().Type, "Write a component of another type.")
		return reflect.Value{}
	}
	return made
}

// named builds the components of a map. Those that are not supported are left out, and reported by choices.
func (d *decoder) named(n *Node, path string, only []string) map[string]Component {
	made := map[string]Component{}
	for i, name := range n.Names {
		trial := &decoder{stream: d.stream, level: d.level, components: d.components, cache: d.cache}
		c := trial.component(n.Items[i], path+"."+name, only)
		d.components, d.templates = trial.components, d.templates+trial.templates
		if c != nil && !slices.ContainsFunc(trial.problems, func(p Problem) bool { return p.Level > Warning }) {
			made[name] = c
			d.problems = append(d.problems, trial.problems...)
		}
	}
	if len(made) == 0 && n.Kind == Map && len(n.Items) > 0 {
		d.component(n.Items[0], path+"."+n.Names[0], only) // reports why
	}
	return made
}

// choices returns why choices of a Selective are not usable.
func (d *decoder) choices(n *Node, path string, s *Selective) map[string]string {
	why := map[string]string{}
	branches := n.Member("authenticators")
	if branches == nil {
		return why
	}
	for i, name := range branches.Names {
		if s.Authenticators[name] != nil {
			continue
		}
		trial := &decoder{cache: d.cache, level: StreamOnly}
		trial.component(branches.Items[i], path+".authenticators."+name, groups["authenticator"])
		for _, p := range trial.problems {
			if p.Level > Warning {
				why[name] = p.Message
				d.warn(p.Path, p.Message, "Choose another way to sign in; this one is not offered.")
				break
			}
		}
	}
	return why
}

func (d *decoder) template(n *Node, path string, scope expression.Scope) Template {
	switch n.Kind {
	case List, Map:
		d.problem(path, "is "+n.Kind.String(), "Write a text.")
		return Template{}
	}
	source := n.Text
	if n.Kind == Bool {
		source = strings.ToUpper(source[:1]) + source[1:]
	}
	key := templateKey{source, scope}
	compiled, ok := d.cache[key]
	if !ok {
		var err error
		if compiled, err = expression.Compile(source, scope); err != nil {
			d.templateProblem(path, err)
			return Template{}
		}
		d.cache[key] = compiled
	}
	if compiled.Uses().Has(expression.Parameters) {
		d.params = true
	}
	if !compiled.IsFixed() {
		d.templates++
	}
	return Template{compiled}
}

func (d *decoder) templateProblem(path string, err error) {
	var unknown *expression.UnknownError
	if errors.As(err, &unknown) {
		d.problems = append(d.problems, Problem{Level: d.level, Path: path, Stream: d.stream,
			Component: unknown.What + " " + unknown.Name, Message: "has a template that does not work: " + err.Error(),
			Fix: "Use a name that the language has."})
		return
	}
	d.problem(path, "has a template that does not work: "+err.Error(), "Correct the template.")
}

// scalarText returns the text of a scalar.
func (d *decoder) scalarText(n *Node, path string) string {
	if kind := n.Member("type").String(); kind != "" {
		d.unsupported(path, kind, "")
		return ""
	}
	if n.Kind >= List || n.Kind == Null {
		d.problem(path, "is "+n.Kind.String(), "Write a text.")
		return ""
	}
	return n.Text
}

func (d *decoder) text(n *Node, path, enum string) string {
	text := d.scalarText(n, path)
	if text != "" && enum != "" && !slices.Contains(strings.Fields(enum), text) {
		d.problem(path, fmt.Sprintf("is %q", text), "Write one of "+strings.ReplaceAll(enum, " ", ", ")+".")
	}
	return text
}

func (d *decoder) boolean(n *Node, path string) bool {
	if b, ok := yamlBools[strings.ToLower(n.Text)]; ok && (n.Kind == Bool || n.Kind == Text) {
		return b == "true"
	}
	d.problem(path, "is "+n.Kind.String(), "Write true or false.")
	return false
}

func (d *decoder) integer(n *Node, path string) int {
	i, err := strconv.Atoi(n.String())
	if err != nil {
		d.problem(path, "is not a whole number", "Write a whole number.")
	}
	return i
}

func (d *decoder) list(n *Node, path string) []*Node {
	if n.Kind != List {
		d.problem(path, "is "+n.Kind.String(), "Write a list.")
		return nil
	}
	return n.Items
}

func (d *decoder) texts(n *Node, path string) []string {
	if n.Kind == Text {
		return []string{n.Text}
	}
	var texts []string
	for i, item := range d.list(n, path) {
		texts = append(texts, d.scalarText(item, fmt.Sprintf("%s[%d]", path, i)))
	}
	return texts
}

func (d *decoder) templateList(n *Node, path string, scope expression.Scope) []Template {
	if n.Kind != List {
		return []Template{d.template(n, path, scope)}
	}
	var made []Template
	for i, item := range n.Items {
		made = append(made, d.template(item, fmt.Sprintf("%s[%d]", path, i), scope))
	}
	return made
}

func (d *decoder) primaryKey(n *Node, path string) PrimaryKey {
	if n.Kind != List {
		return PrimaryKey{{d.scalarText(n, path)}}
	}
	var key PrimaryKey
	for i, item := range n.Items {
		key = append(key, d.texts(item, fmt.Sprintf("%s[%d]", path, i)))
	}
	return key
}
