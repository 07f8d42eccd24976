package document

// defaultTypes are the types of components that do not name theirs, by the type and member that hold them.
var defaultTypes = map[string]string{
	"CompositeErrorHandler.error_handlers":           "DefaultErrorHandler",
	"CursorPagination.decoder":                       "JsonDecoder",
	"DatetimeBasedCursor.end_datetime":               "MinMaxDatetime",
	"DatetimeBasedCursor.end_time_option":            "RequestOption",
	"DatetimeBasedCursor.start_datetime":             "MinMaxDatetime",
	"DatetimeBasedCursor.start_time_option":          "RequestOption",
	"DeclarativeSource.check":                        "CheckStream",
	"DeclarativeSource.spec":                         "Spec",
	"DeclarativeSource.streams":                      "DeclarativeStream",
	"DeclarativeStream.retriever":                    "SimpleRetriever",
	"DeclarativeStream.schema_loader":                "JsonFileSchemaLoader",
	"DynamicDeclarativeStream.stream_template":       "DeclarativeStream",
	"DynamicDeclarativeStream.components_resolver":   "ConfigComponentResolver",
	"HttpComponentsResolver.retriever":               "SimpleRetriever",
	"HttpComponentsResolver.components_mapping":      "ComponentMappingDefinition",
	"ConfigComponentsResolver.stream_config":         "StreamConfig",
	"ConfigComponentsResolver.components_mapping":    "ComponentMappingDefinition",
	"DefaultErrorHandler.response_filters":           "HttpResponseFilter",
	"DefaultPaginator.decoder":                       "JsonDecoder",
	"DefaultPaginator.page_size_option":              "RequestOption",
	"DpathExtractor.decoder":                         "JsonDecoder",
	"DpathExtractor.record_expander":                 "RecordExpander",
	"HttpRequester.error_handler":                    "DefaultErrorHandler",
	"ListPartitionRouter.request_option":             "RequestOption",
	"ParentStreamConfig.request_option":              "RequestOption",
	"ParentStreamConfig.stream":                      "DeclarativeStream",
	"RecordSelector.extractor":                       "DpathExtractor",
	"RecordSelector.record_filter":                   "RecordFilter",
	"SimpleRetriever.paginator":                      "NoPagination",
	"SimpleRetriever.record_selector":                "RecordSelector",
	"SimpleRetriever.requester":                      "HttpRequester",
	"SubstreamPartitionRouter.parent_stream_configs": "ParentStreamConfig",
	"AddFields.fields":                               "AddedFieldDefinition",
	"CustomPartitionRouter.parent_stream_configs":    "ParentStreamConfig",
	"DynamicSchemaLoader.retriever":                  "SimpleRetriever",
	"SchemaTypeIdentifier.types_map":                 "TypesMap",
}

// customTypes are the types of components that name a Python class and no type.
var customTypes = map[string]string{
	"CompositeErrorHandler.backoff_strategies": "CustomBackoffStrategy",
	"DeclarativeStream.retriever":              "CustomRetriever",
	"DeclarativeStream.transformations":        "CustomTransformation",
	"DefaultErrorHandler.backoff_strategies":   "CustomBackoffStrategy",
	"DefaultPaginator.pagination_strategy":     "CustomPaginationStrategy",
	"HttpRequester.authenticator":              "CustomAuthenticator",
	"HttpRequester.error_handler":              "CustomErrorHandler",
	"RecordSelector.extractor":                 "CustomRecordExtractor",
	"SimpleRetriever.partition_router":         "CustomPartitionRouter",
}

// parameters are the parameters of a component in their order.
type parameters []parameter

type parameter struct {
	name  string
	value *Node
}

// with returns ps with a parameter added or replaced.
func (ps parameters) with(name string, value *Node) parameters {
	for i := range ps {
		if ps[i].name == name {
			ps[i].value = value
			return ps
		}
	}
	return append(ps, parameter{name, value})
}

// without returns a copy of ps without the parameter.
func (ps parameters) without(name string) parameters {
	var rest parameters
	for _, p := range ps {
		if p.name != name {
			rest = append(rest, p)
		}
	}
	return rest
}

func (ps parameters) has(name string) *Node {
	for _, p := range ps {
		if p.name == name {
			return p.value
		}
	}
	return nil
}

func (ps parameters) node() *Node {
	n := &Node{Kind: Map, Names: make([]string, len(ps)), Items: make([]*Node, len(ps))}
	for i, p := range ps {
		n.Names[i], n.Items[i] = p.name, p.value
	}
	return n
}

// propagator adds default types and passes parameters down a tree, as the original interpreter does.
type propagator struct{ budget *budget }

// propagate changes the component n, which is the member place of its parent.
func (p *propagator) propagate(place string, n *Node, inherited parameters) error {
	if n.Member("type") == nil {
		found := defaultTypes[place]
		if n.Member("class_name") != nil {
			found = customTypes[place]
		}
		if found != "" {
			n.set("type", &Node{Kind: Text, Text: found})
		}
	}
	current := append(parameters(nil), inherited...)
	if own := n.remove(parametersName); own != nil && own.Kind == Map {
		for i, name := range own.Names {
			current = current.with(name, own.Items[i])
		}
	}
	kind := n.Member("type")
	switch {
	case isSchema(kind):
		return nil
	case kind == nil:
		return p.nested(place, n, current)
	}
	if err := p.fill(n, current); err != nil {
		return err
	}
	current, err := p.members(n, kind.String(), current)
	if err != nil {
		return err
	}
	if len(current) > 0 {
		n.set(parametersName, current.node())
	}
	return nil
}

// fill sets the members that are absent or falsy to the parameters with their names.
func (p *propagator) fill(n *Node, current parameters) error {
	for _, parameter := range current {
		if !n.Member(parameter.name).isFalsy() {
			continue
		}
		value := parameter.value.clone()
		if value.Kind >= List {
			if err := p.charge(value); err != nil {
				return err
			}
		}
		n.set(parameter.name, value)
	}
	return nil
}

func (p *propagator) charge(n *Node) error {
	for _, item := range n.Items {
		if err := p.charge(item); err != nil {
			return err
		}
	}
	return p.budget.take(n)
}

// members propagates into the objects and lists of a component. A parameter is not passed to the member of its name.
// It returns the parameters that are left: a falsy one is lost at the member of its name.
func (p *propagator) members(n *Node, kind string, current parameters) (parameters, error) {
	for i, name := range n.Names {
		member := n.Items[i]
		if member.Kind < List {
			continue
		}
		passed := current
		if own := current.has(name); own != nil {
			if passed = current.without(name); own.isFalsy() {
				current = passed
			}
		}
		elements := []*Node{member}
		if member.Kind == List {
			elements = member.Items
		}
		for _, element := range elements {
			if element.Kind != Map {
				continue
			}
			if err := p.propagate(kind+"."+name, element, passed); err != nil {
				return nil, err
			}
		}
	}
	return current, nil
}

// nested propagates into the components inside an object that is not a component.
func (p *propagator) nested(place string, n *Node, current parameters) error {
	for _, member := range n.Items {
		if member.Kind != Map || member.Member("type").isFalsy() {
			continue
		}
		if err := p.propagate(place, member, current); err != nil {
			return err
		}
	}
	return nil
}

// isSchema reports whether a type is that of a JSON schema.
func isSchema(kind *Node) bool {
	if kind == nil {
		return false
	}
	return kind.Kind == Text && kind.Text == "object" || kind.Kind == List && len(kind.Items) == 2 &&
		kind.Items[0].String() == "null" && kind.Items[1].String() == "object"
}
