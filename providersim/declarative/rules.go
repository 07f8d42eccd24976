package declarative

import (
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// applyRules changes the settings as the document declares.
func (p *Provider) applyRules(spec *document.Spec) {
	if spec == nil || spec.Rules == nil {
		return
	}
	var all []document.Component
	for _, m := range spec.Rules.Migrations {
		all = append(all, m.Transformations...)
	}
	for _, c := range append(all, spec.Rules.Transformations...) {
		config, err := decode(p.config.AppendJSON(nil))
		if err != nil {
			return
		}
		switch r := c.(type) {
		case *document.ConfigAddFields:
			p.addSettings(r, config)
		case *document.ConfigRemoveFields:
			if !r.Condition.IsSet() || p.holds(r.Condition, r) {
				for _, path := range r.Pointers {
					removeAt(config, path, func(any) bool { return true })
				}
			}
		case *document.ConfigRemapField:
			var path []string
			for _, t := range r.FieldPath {
				path = append(path, p.text(t, r))
			}
			values, err := r.Map.JSON(p.context(r))
			fresh := values.Member(expression.Print(memberAt(p.config, path)))
			if v, decodeErr := decodeAny(fresh.AppendJSON(nil)); err == nil && decodeErr == nil && !fresh.IsNull() {
				setAt(config, path, v)
			}
		}
		p.config = expression.LazyJSON(encode(config))
	}
}

func (p *Provider) addSettings(r *document.ConfigAddFields, config map[string]any) {
	for _, f := range r.Fields {
		if r.Condition.IsSet() && !p.holds(r.Condition, r) {
			return
		}
		var path []string
		for _, t := range f.Path {
			path = append(path, p.text(t, f))
		}
		v, err := f.Value.Value(p.context(f))
		if err != nil || len(path) == 0 {
			return
		}
		if made, err := decodeAny(cast(v, f.ValueType)); err == nil {
			setAt(config, path, made)
			p.config = expression.LazyJSON(encode(config))
		}
	}
}

func (p *Provider) holds(t document.Template, c document.Component) bool {
	holds, err := t.Bool(p.context(c))
	return err == nil && holds
}
