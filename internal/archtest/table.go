package archtest

// Libraries that the pure rooms are allowed.
const (
	fastJSON   = "github.com/go-json-experiment/json/..."
	jsonSchema = "github.com/santhosh-tekuri/jsonschema/v6/..."
)

// Table is the import table of the repository, room by room. A rule without Libs
// leaves the choice of libraries to docs/decisions/0001-dependencies.md.
var Table = []Rule{
	// What a connector author imports.
	{Room: "protocol", Libs: []string{fastJSON},
		Reason: "the wire format stands alone, so that anything may depend on it"},
	{Room: "governor", Libs: onlyStd,
		Reason: "pacing is arithmetic that knows no provider, no message and no store"},
	{Room: "manifest", May: []string{"protocol"}, Libs: []string{fastJSON, jsonSchema},
		Reason: "a declaration is data: it must be readable without anything that runs"},
	{Room: "connectorkit/governhttp", May: []string{"governor"},
		Reason: "the one place where a provider request waits decides nothing but the wait"},
	{Room: "connectorkit", May: []string{"protocol", "manifest", "governor", "connectorkit/governhttp"},
		Never:  []string{"internal/...", "connectorkit/browser"},
		Reason: "authors outside this repository import the kit; internals and a browser must not come with it"},
	{Room: "connectorkit/browser", May: []string{"connectorkit", "protocol", "manifest"},
		Never:  []string{"internal/..."},
		Reason: "the browser is an addition on top of the kit, for the connectors that need one"},
	{Room: "connectorkit/connectortest", May: anything,
		Reason: "the conformance suite is test support and compares a connector with the real runner and store"},
	{Room: "connectors", May: []string{"connectors/*", "connectorkit", "protocol", "manifest"},
		Reason: "the list of built-in connectors is a list and nothing more"},
	{Room: "connectors/...", May: []string{"connectorkit", "connectorkit/browser", "protocol", "manifest", "governor"},
		Never:  []string{"internal/...", "connectors/..."},
		Reason: "a connector knows its provider and the kit: no storage, no internals, no other connector"},
	{Room: "providersim/...", May: []string{"providersim/..."},
		Reason: "a simulator that shared code with the connectors would share their mistakes"},

	// The pure core: facts, judgement, policy.
	{Room: "internal/evidence", May: []string{"protocol", "manifest"}, Libs: onlyStd,
		Reason: "evidence is plain facts, so that every judge of them reads the same ones"},
	{Room: "internal/health", May: []string{"internal/evidence", "manifest", "protocol"}, Libs: onlyStd,
		Reason: "health is derived from evidence and now alone; reading anything else makes it unrepeatable"},
	{Room: "internal/verdict", May: []string{"internal/health", "internal/evidence"}, Libs: onlyStd,
		Reason: "the verdict is synthesized from the projection, never from a second source"},
	{Room: "internal/cadence", May: []string{"internal/evidence", "manifest"}, Libs: onlyStd,
		Reason: "when a connection is due is policy over facts; it must not look at verdicts or storage"},

	// Collecting and keeping.
	{Room: "internal/redact", Libs: onlyStd,
		Reason: "taking secrets out of text needs nothing but the text"},
	{Room: "internal/runner", May: []string{"protocol", "manifest", "internal/redact"}, Never: []string{"internal/store/..."},
		Reason: "the runner declares the Sink, Asker and GapSource it needs, so that server and device share it"},
	{Room: "internal/launch",
		May: []string{"internal/runner", "internal/store", "internal/interaction", "internal/credential", "internal/redact",
			"protocol", "manifest"},
		Never:  []string{"internal/health/...", "internal/verdict/...", "internal/console/..."},
		Reason: "turning a stored connection into a run is mechanics; whether it should run is decided elsewhere"},
	{Room: "internal/interaction", May: []string{"internal/store", "internal/runner", "internal/evidence", "protocol", "manifest"},
		Reason: "an open question is asked, answered or expired; it judges nothing"},
	{Room: "internal/credential", May: []string{"manifest", "internal/redact"},
		Reason: "secrets are sealed bytes: the fewer packages near them the better"},
	{Room: "internal/store", May: []string{"protocol", "manifest", "internal/evidence"},
		Never:  []string{"internal/health/...", "internal/verdict/..."},
		Reason: "a store keeps facts and does not judge; implementations depend on the contract, not the reverse"},
	{Room: "internal/store/sqlstore", May: []string{"internal/store", "protocol", "manifest", "internal/evidence"},
		Never:  []string{"internal/health/...", "internal/verdict/..."},
		Reason: "SQL common to both databases knows the contract and neither dialect's package"},
	{Room: "internal/store/...",
		May:    []string{"internal/store", "internal/store/sqlstore/...", "protocol", "manifest", "internal/evidence"},
		Never:  []string{"internal/health/...", "internal/verdict/..."},
		Reason: "a database implements the storage contract and does not judge, nor know the other database"},
	{Room: "internal/scheduler",
		May: []string{"internal/cadence", "internal/runner", "internal/launch", "internal/interaction", "internal/store",
			"internal/evidence"},
		Never:  []string{"internal/health/...", "internal/verdict/...", "internal/console/..."},
		Reason: "the schedule follows cadence and evidence; a verdict is for people and must not steer it"},

	// What owners and clients see.
	{Room: "internal/ownerview", May: []string{"internal/evidence", "internal/health", "internal/verdict"},
		Never:  []string{"internal/store/..."},
		Reason: "the only path from evidence to verdict declares the EvidenceReader it needs"},
	{Room: "internal/grantview", May: []string{"protocol", "manifest"},
		Never:  []string{"internal/health/...", "internal/verdict/...", "internal/evidence/..."},
		Reason: "diagnostics must not be able to leak to a client: the leak would not compile"},
	{Room: "internal/repair", May: []string{"internal/ownerview", "internal/verdict", "internal/evidence"},
		Never:  []string{"internal/runner/...", "internal/store/..."},
		Reason: "repair watches a condition and asks for one run; it neither runs nor stores"},
	{Room: "internal/notify", May: []string{"internal/verdict"}, Never: []string{"internal/health/..."},
		Reason: "a push repeats the verdict; it may not decide again"},
	{Room: "internal/console", May: []string{"internal/ownerview", "internal/verdict"},
		Never:  []string{"internal/health/...", "internal/evidence/...", "internal/store/..."},
		Reason: "a page renders the verdict; it may not derive one"},
	{Room: "internal/ownerapi", May: []string{"internal/ownerview", "internal/verdict", "protocol", "manifest"},
		Never:  []string{"internal/health/...", "internal/store/..."},
		Reason: "the owner's JSON carries the verdict verbatim"},
	{Room: "internal/deviceapi", May: []string{"protocol", "manifest"},
		Reason: "a device speaks messages; server types must not reach it"},
	{Room: "internal/ingest", May: []string{"internal/deviceapi", "internal/runner", "internal/store", "internal/evidence", "protocol", "manifest"},
		Never:  []string{"internal/health/...", "internal/verdict/..."},
		Reason: "what a device sends is stored as facts by the same commit as any run"},
	{Room: "internal/server", May: anything, Never: []string{"internal/health/...", "connectors/...", "internal/collector/..."},
		Reason: "the server mounts surfaces; it reads verdicts through ownerview and never loads a connector"},

	// The device side.
	{Room: "internal/collector", May: []string{"internal/runner", "internal/outbox", "internal/deviceapi", "manifest", "protocol"},
		Never:  []string{"internal/store/...", "internal/server/...", "internal/health/..."},
		Reason: "the device collects and uploads; the server alone stores and judges"},
	{Room: "internal/outbox", May: []string{"internal/deviceapi", "protocol"},
		Reason: "the outbox is a durable queue that knows nothing of collecting"},

	// Programs.
	{Room: "cmd/pdpp", May: []string{"internal/...", "protocol", "manifest", "providersim/..."},
		Never:  []string{"connectors/...", "connectorkit/..."},
		Reason: "a connector is always a child process"},
	{Room: "cmd/pdpp-connectors", May: []string{"connectors", "connectors/...", "connectorkit/...", "protocol", "manifest"},
		Never:  []string{"internal/..."},
		Reason: "the host of the built-in connectors stands where any foreign connector stands"},
	{Room: "cmd/pdpp-local-collector",
		May:    []string{"internal/collector", "internal/outbox", "internal/deviceapi", "internal/runner", "internal/credential", "protocol", "manifest"},
		Never:  []string{"internal/store/...", "internal/server/...", "internal/health/...", "connectors/..."},
		Reason: "the device program carries the collector and nothing of the server"},
	{Room: "cmd/...", May: []string{"providersim/...", "protocol", "manifest"},
		Reason: "a further program gets its own row before it imports more than public packages"},

	// The workshop.
	{Room: "internal/archtest", Libs: onlyStd,
		Reason: "the checks depend on nothing they check"},
	{Room: "internal/tools/...", May: anything,
		Reason: "programs for developers are run here and never shipped"},
}
