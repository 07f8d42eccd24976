package document

import "github.com/pdpp-go/pdpp/declarative/expression"

// Options evaluates query parameters or the fields of a form. Only texts and lists are read back as literals, so "007"
// stays a text. Members that are null are left out. If the document has one text for all, the result is its value.
func (i Inputs) Options(c *expression.Context) (expression.Value, error) {
	return i.flat(c, expression.TextOnly, expression.TextOrList)
}

// Headers evaluates headers. Members that are null are left out.
func (i Inputs) Headers(c *expression.Context) (expression.Value, error) {
	return i.flat(c, expression.AnyLiteral, expression.AnyLiteral)
}

// JSON evaluates a JSON body with templates at every depth. Members that are null are left out.
func (i Inputs) JSON(c *expression.Context) (expression.Value, error) {
	if i.Text.IsSet() {
		return i.Text.Value(c)
	}
	return i.Entries.nested(c)
}

// flat evaluates the members that are texts. Templates inside of lists and objects are not evaluated.
func (i Inputs) flat(c *expression.Context, names, values expression.Reading) (expression.Value, error) {
	if i.Text.IsSet() {
		return i.Text.Value(c)
	}
	b := expression.NewObject(len(i.Entries))
	for _, e := range i.Entries {
		name, err := e.Name.EntryAs(c, names)
		if err != nil {
			return expression.Value{}, err
		}
		value := e.Value.source()
		if e.Value.Template.IsSet() {
			if value, err = e.Value.Template.EntryAs(c, values); err != nil {
				return expression.Value{}, err
			}
		}
		if !value.IsNull() {
			b.Set(expression.Print(name), value)
		}
	}
	return b.Value(), nil
}

func (es Entries) nested(c *expression.Context) (expression.Value, error) {
	b := expression.NewObject(len(es))
	for _, e := range es {
		name, err := e.Name.Entry(c)
		if err != nil {
			return expression.Value{}, err
		}
		value, err := e.Value.nested(c)
		if err != nil {
			return expression.Value{}, err
		}
		if !value.IsNull() {
			b.Set(expression.Print(name), value)
		}
	}
	return b.Value(), nil
}

func (i Input) nested(c *expression.Context) (expression.Value, error) {
	switch {
	case i.Template.IsSet():
		return i.Template.Entry(c)
	case i.IsObject:
		return i.Entries.nested(c)
	case i.IsList:
		items := make([]expression.Value, len(i.List))
		for n, item := range i.List {
			value, err := item.nested(c)
			if err != nil {
				return expression.Value{}, err
			}
			items[n] = value
		}
		return expression.ArrayValue(items...), nil
	}
	return i.Literal.Value(), nil
}

// source returns the value as it is in the document.
func (i Input) source() expression.Value {
	switch {
	case i.Template.IsSet():
		return expression.StringValue(i.Template.Source())
	case i.IsObject:
		b := expression.NewObject(len(i.Entries))
		for _, e := range i.Entries {
			b.Set(e.Name.Source(), e.Value.source())
		}
		return b.Value()
	case i.IsList:
		items := make([]expression.Value, len(i.List))
		for n, item := range i.List {
			items[n] = item.source()
		}
		return expression.ArrayValue(items...)
	}
	return i.Literal.Value()
}
