package protocol

func (m *Start) check() *Violation {
	rules := []messageRule{
		{m.RunID == "" || !isBlank(m.RunID), "run_id: a non-blank string, if present"},
		enumRule("collection_mode", m.CollectionMode, CollectionModes),
		{len(m.Scope.Streams) > 0, "scope.streams: at least one stream"},
	}
	for _, s := range m.Scope.Streams {
		rules = append(rules,
			messageRule{!isBlank(s.Name) && s.Name != "*", "scope.streams.name: a stream of the manifest"},
			messageRule{s.TimeRange == nil || s.TimeRange.valid(), "time_range: since or until, non-blank"},
		)
	}
	for _, cursors := range []Cursors{m.State, m.CatchUpState} {
		for _, c := range cursors {
			rules = append(rules, messageRule{c.Kind() == '{' || c.Kind() == 'n', "state: an object or null per stream"})
		}
	}
	rules = append(rules, gapEntryRules(m.DetailGaps)...)
	for _, b := range m.Bindings {
		rules = append(rules, messageRule{b.Kind() == '{', "bindings: a descriptor object per binding"})
	}
	return firstBroken(rules...)
}

func (m *InteractionResponse) check() *Violation {
	return firstBroken(
		messageRule{!isBlank(m.RequestID), "request_id: a non-blank string"},
		enumRule("status", m.Status, ResponseStatuses),
		optionalObject("data", &m.Data),
		messageRule{m.Data == nil || m.Status == ResponseSuccess, "data only on success"},
	)
}

func (m *DetailGapsPageResponse) check() *Violation {
	rules := []messageRule{{!isBlank(m.RequestID), "request_id: a non-blank string"}}
	return firstBroken(append(rules, gapEntryRules(m.DetailGaps)...)...)
}

func (m *CredentialResponse) check() *Violation {
	return firstBroken(
		messageRule{!isBlank(m.RequestID), "request_id: a non-blank string"},
		enumRule("status", m.Status, CredentialOutcomes),
		messageRule{(m.Status == CredentialRenewed) == (len(m.Values) > 0), "values: with status renewed, and with no other"},
	)
}

func gapEntryRules(entries []GapEntry) (rules []messageRule) {
	for i := range entries {
		e := &entries[i]
		rules = append(
			rules,
			messageRule{
				!isBlank(e.GapID) && !isBlank(e.LeaseID) && !isBlank(e.Stream),
				"detail_gaps: gap_id, lease_id and stream, non-blank",
			},
			messageRule{e.Status == "" || e.Status == GapPending, "detail_gaps.status: pending"},
			optionalObject("detail_gaps.detail_locator", &e.DetailLocator),
		)
	}
	return rules
}

func (r *TimeRange) valid() bool {
	return r.Since+r.Until != "" && (r.Since == "" || !isBlank(r.Since)) && (r.Until == "" || !isBlank(r.Until))
}
