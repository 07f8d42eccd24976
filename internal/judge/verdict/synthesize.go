package verdict

// Synthesize judges a connection. It is total: values outside the vocabulary count as unknown. The verdict shares
// memory with its input; neither may be modified.
func Synthesize(in Input) Verdict {
	r := newReading(in)
	inputs := toneInputs(r)
	tone, toneCause := worstTone(inputs)
	r.tone = tone

	actions := requiredActions(r)
	channel, channelCause := routeChannel(actions)
	// Without a working runtime no action of the owner can help this connection; the runtime has a verdict of its own.
	capped := !in.RuntimeOK && channel != Calm
	if capped {
		channel = Calm
	}

	v := Verdict{
		Pill:             Pill{Tone: tone, Label: labelOf(tone)},
		Channel:          channel,
		Annotations:      annotations(r, channel),
		ForwardStatement: forwardStatement(r, actions),
		Outline:          buildOutline(r, actions),
		RequiredActions:  actions,
		Streams:          streamRows(r, actions),
		Progress:         buildProgress(r),
		Detail:           buildDetail(r, actions, capped),
	}
	v.Trace = buildTrace(&v, inputs, toneCause, channelCause, capped)
	return v
}
