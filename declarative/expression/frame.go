package expression

import (
	"strconv"
	"sync"
)

// frame is the state of one evaluation. Frames are reused.
type frame struct {
	context *Context
	locals  []Value
	out     []byte
	steps   int
	calls   []*call // arguments of the calls that are under way, and spare ones
	depth   int     // the calls that are under way
}

var frames = sync.Pool{New: func() any { return new(frame) }}

// maxSpare is the greatest buffer that a reused frame keeps.
const maxSpare = 16 << 10

func newFrame(c *Context, slots int) *frame {
	f := frames.Get().(*frame)
	f.context = c
	if slots > 0 {
		f.locals = make([]Value, slots)
	}
	return f
}

func (f *frame) release() {
	f.context, f.locals, f.steps, f.depth = nil, nil, 0, 0
	if f.out = f.out[:0]; cap(f.out) > maxSpare {
		f.out = nil
	}
	frames.Put(f)
}

// newCall returns a call without arguments. The caller ends it with endCall.
func (f *frame) newCall() *call {
	if f.depth == len(f.calls) {
		f.calls = append(f.calls, new(call))
	}
	c := f.calls[f.depth]
	f.depth++
	return c
}

// endCall makes the arguments of a call reusable.
func (f *frame) endCall(c *call) {
	clear(c.args)
	clear(c.named)
	*c = call{args: c.args[:0], named: c.named[:0]}
	f.depth--
}

var errSteps = &failure{boundClass, "the template needs more than " + strconv.Itoa(MaxSteps) + " steps"}

var errResult = &failure{boundClass, "the template makes a text of more than " + strconv.Itoa(MaxResult) + " bytes"}

// step counts n steps.
func (f *frame) step(n int) error {
	f.steps += n
	if f.steps > MaxSteps {
		return errSteps
	}
	return nil
}

// text prints v.
func (f *frame) text(v Value) (string, error) {
	if v.kind == String {
		return v.text, nil
	}
	b, err := f.appendText(nil, v)
	return string(b), err
}

func (f *frame) appendText(b []byte, v Value) ([]byte, error) {
	switch {
	case v.kind == String:
		b = append(b, v.text...)
	case v.kind == Int && v.text == "":
		b = strconv.AppendInt(b, v.num, 10)
	default:
		p := printer{out: b}
		p.print(v, false)
		b = p.out
		if p.problem != nil {
			return b, p.problem
		}
	}
	if len(b) > MaxResult {
		return b, errResult
	}
	return b, nil
}

// sized returns s as a value if it is within the bound.
func sized(s string) (Value, error) {
	if len(s) > MaxResult {
		return Value{}, errResult
	}
	return StringValue(s), nil
}

func runAll(parts []statement, f *frame) error {
	for _, part := range parts {
		if err := part.run(f); err != nil {
			return err
		}
	}
	return nil
}

func (p *textPart) run(f *frame) (err error) {
	f.out = append(f.out, p.text...)
	if len(f.out) > MaxResult {
		return errResult
	}
	return nil
}

func (p *printPart) run(f *frame) error {
	v, err := p.of.eval(f)
	if err != nil {
		return err
	}
	f.out, err = f.appendText(f.out, v)
	return err
}

func (p *ifPart) run(f *frame) error {
	for i, test := range p.tests {
		v, err := test.eval(f)
		if err != nil {
			return err
		}
		if v.truth() {
			return runAll(p.bodies[i], f)
		}
	}
	if len(p.bodies) > len(p.tests) {
		return runAll(p.bodies[len(p.tests)], f)
	}
	return nil
}

func (p *setPart) run(f *frame) error {
	v, err := p.value(f)
	if err != nil {
		return err
	}
	if len(p.targets) == 1 {
		return f.assign(p.targets[0], v)
	}
	items, err := iterate(v)
	if err != nil {
		return err
	}
	if len(items) != len(p.targets) {
		return valueError("%d values for %d names", len(items), len(p.targets))
	}
	for i, t := range p.targets {
		if err := f.assign(t, items[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *setPart) value(f *frame) (Value, error) {
	if err := f.step(1); err != nil {
		return Value{}, err
	}
	if p.of != nil {
		return p.of.eval(f)
	}
	saved := f.out
	f.out = nil
	err := runAll(p.body, f)
	v := StringValue(string(f.out))
	f.out = saved
	return v, err
}

func (f *frame) assign(t target, v Value) error {
	if t.member == "" {
		f.locals[t.slot] = v
		return nil
	}
	space := f.locals[t.slot]
	if space.kind != namespace {
		return valueError("only a namespace has members that can be set")
	}
	space.ref.(*members).put(t.member, v)
	return nil
}

func (p *forPart) run(f *frame) error {
	over, err := p.over.eval(f)
	if err != nil {
		return err
	}
	items, err := iterate(over)
	if err != nil {
		return err
	}
	if p.filter != nil {
		if items, err = p.selected(f, items); err != nil {
			return err
		}
	}
	if len(items) == 0 {
		return runAll(p.otherwise, f)
	}
	for i, item := range items {
		if err := f.step(1); err != nil {
			return err
		}
		if err := p.bind(f, item); err != nil {
			return err
		}
		f.locals[p.loop] = loopState(i, items)
		for slot, outer := range p.resets {
			f.locals[slot] = Value{}
			if outer >= 0 {
				f.locals[slot] = f.locals[outer]
			}
		}
		if err := runAll(p.body, f); err != nil {
			return err
		}
	}
	return nil
}

func (p *forPart) selected(f *frame, items []Value) ([]Value, error) {
	var kept []Value
	for _, item := range items {
		if err := f.step(1); err != nil {
			return nil, err
		}
		if err := p.bind(f, item); err != nil {
			return nil, err
		}
		v, err := p.filter.eval(f)
		if err != nil {
			return nil, err
		}
		if v.truth() {
			kept = append(kept, item)
		}
	}
	return kept, nil
}

func (p *forPart) bind(f *frame, item Value) error {
	if len(p.targets) == 1 {
		f.locals[p.targets[0]] = item
		return nil
	}
	parts, err := iterate(item)
	if err != nil {
		return err
	}
	if len(parts) != len(p.targets) {
		return valueError("%d values for the %d names of a loop", len(parts), len(p.targets))
	}
	for i, slot := range p.targets {
		f.locals[slot] = parts[i]
	}
	return nil
}

// loopState returns the members of the variable loop.
func loopState(i int, items []Value) Value {
	b := NewObject(8).Set("index", IntValue(int64(i+1))).Set("index0", IntValue(int64(i))).
		Set("first", BoolValue(i == 0)).Set("last", BoolValue(i == len(items)-1)).
		Set("length", IntValue(int64(len(items)))).Set("revindex", IntValue(int64(len(items)-i))).
		Set("revindex0", IntValue(int64(len(items)-i-1)))
	if i > 0 {
		b.Set("previtem", items[i-1])
	}
	if i+1 < len(items) {
		b.Set("nextitem", items[i+1])
	}
	return b.Value()
}

// iterate returns the items of a value in a loop.
func iterate(v Value) ([]Value, error) {
	switch v.kind {
	case Undefined:
		return nil, nil
	case Array:
		return v.ref.(*list).items, nil
	case Object:
		m := v.ref.(*members)
		m.expand()
		items := make([]Value, len(m.keys))
		for i, key := range m.keys {
			items[i] = decodeKey(key)
		}
		return items, nil
	case String:
		items := make([]Value, 0, len(v.text))
		for _, r := range v.text {
			items = append(items, StringValue(string(r)))
		}
		return items, nil
	}
	return nil, typeError("%s cannot be iterated", article(v.kind))
}

func article(k Kind) string {
	switch k {
	case Undefined, Null:
		return "nothing"
	case Int, Array, Object:
		return map[Kind]string{Int: "an integer", Array: "a list", Object: "an object"}[k]
	}
	return "a " + k.String()
}
