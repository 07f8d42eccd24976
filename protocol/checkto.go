package protocol

func (m *Start) check() *Violation {
	rules := []rule{
		{!blank(m.RunID), "run_id: a non-blank string"},
		enum("collection_mode", m.CollectionMode, CollectionModes),
		{len(m.Scope.Streams) > 0, "scope.streams: at least one stream"},
	}
	for _, s := range m.Scope.Streams {
		rules = append(rules,
			rule{!blank(s.Name) && s.Name != "*", "scope.streams.name: a stream of the manifest"},
			rule{s.TimeRange == nil || s.TimeRange.Since != "" || s.TimeRange.Until != "", "time_range: since or until"},
		)
	}
	for _, states := range []map[string]bool{cursorsValid(m.State), cursorsValid(m.CatchUpState)} {
		for _, ok := range states {
			rules = append(rules, rule{ok, "state: an object or null per stream"})
		}
	}
	for _, b := range m.Bindings {
		rules = append(rules, rule{b.Kind() == '{', "bindings: a descriptor object per binding"})
	}
	return firstBroken(rules...)
}

func cursorsValid[V interface{ ~[]byte }](m map[string]V) map[string]bool {
	out := make(map[string]bool, len(m))
	for name, v := range m {
		out[name] = len(v) > 0 && (v[0] == '{' || v[0] == 'n')
	}
	return out
}

func (m *InteractionResponse) check() *Violation {
	return firstBroken(
		rule{!blank(m.RequestID), "request_id: a non-blank string"},
		enum("status", m.Status, ResponseStatuses),
		rule{objectOr(m.Data, true), "data: an object"},
		rule{m.Data == nil || m.Status == ResponseSuccess, "data only on success"},
	)
}

func (m *DetailGapsPageResponse) check() *Violation {
	return firstBroken(rule{!blank(m.RequestID), "request_id: a non-blank string"})
}
