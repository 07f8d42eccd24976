package document

// Check names the streams that a test of the connection reads.
type Check struct {
	Base
	StreamNames []string `decl:"stream_names"`
	Overrides   *Node    `decl:"config_overrides"`
	Dynamic     *Node    `decl:"dynamic_streams_check_configs"`
}

// Spec describes the settings.
type Spec struct {
	Base
	Connection    *Node     `decl:"connection_specification" need:"yes"`
	Documentation string    `decl:"documentation_url"`
	AdvancedAuth  *AuthFlow `decl:"advanced_auth" any:"yes"`
	Rules         *Rules    `decl:"config_normalization_rules" any:"yes"`
}

// AuthFlow describes how the owner signs in at the provider.
type AuthFlow struct {
	Base
	FlowType       string   `decl:"auth_flow_type"`
	PredicateKey   []string `decl:"predicate_key"`
	PredicateValue string   `decl:"predicate_value"`
	Specification  *Node    `decl:"oauth_config_specification"`
}

// Rules change and check the settings before a run.
type Rules struct {
	Base
	Migrations      []*Migration `decl:"config_migrations" only:"ConfigMigration"`
	Transformations []Component  `decl:"transformations" only:"rule"`
	Validations     *Node        `decl:"validations"`
}

// Migration changes settings of an older form.
type Migration struct {
	Base
	Description     string      `decl:"description"`
	Transformations []Component `decl:"transformations" only:"rule"`
}

// ConfigAddFields adds settings.
type ConfigAddFields struct {
	Base
	Fields    []*ConfigField `decl:"fields" need:"yes" any:"yes"`
	Condition Template       `decl:"condition" scope:"setup"`
}

// ConfigField is a setting with a computed value.
type ConfigField struct {
	Base
	Path      []Template `decl:"path" need:"yes" scope:"setup"`
	Value     Template   `decl:"value" need:"yes" scope:"setup"`
	ValueType string     `decl:"value_type" enum:"string number integer boolean"`
}

// ConfigRemoveFields removes settings.
type ConfigRemoveFields struct {
	Base
	Pointers  [][]string `decl:"field_pointers" need:"yes"`
	Condition Template   `decl:"condition" scope:"property"`
}

// ConfigRemapField replaces values of a setting.
type ConfigRemapField struct {
	Base
	Map       Inputs     `decl:"map" need:"yes" scope:"setup"`
	FieldPath []Template `decl:"field_path" need:"yes" scope:"setup"`
}

// Concurrency is how many requests the document wants at the same time.
type Concurrency struct {
	Base
	Default Template `decl:"default_concurrency" need:"yes" scope:"setup"`
	Most    int      `decl:"max_concurrency"`
}

// APIBudget declares the provider's limits.
type APIBudget struct {
	Base
	Policies        []Component `decl:"policies" need:"yes" only:"policy"`
	ResetHeader     string      `decl:"ratelimit_reset_header"`
	RemainingHeader string      `decl:"ratelimit_remaining_header"`
	Codes           []int       `decl:"status_codes_for_ratelimit_hit"`
	MaxWait         Template    `decl:"maximum_attempts_to_acquire" scope:"setup"`
}

// MovingWindow limits requests within any period.
type MovingWindow struct {
	Base
	Rates    []*Rate    `decl:"rates" need:"yes" any:"yes"`
	Matchers []*Matcher `decl:"matchers" any:"yes"`
}

// FixedWindow limits requests from one period to the next.
type FixedWindow struct {
	Base
	Period   string     `decl:"period" need:"yes"`
	Limit    Template   `decl:"call_limit" need:"yes" scope:"setup"`
	Matchers []*Matcher `decl:"matchers" any:"yes"`
}

// UnlimitedRate declares requests without a limit.
type UnlimitedRate struct {
	Base
	Matchers []*Matcher `decl:"matchers" any:"yes"`
}

// Rate is a number of requests in a period.
type Rate struct {
	Base
	Limit    Template `decl:"limit" need:"yes" scope:"setup"`
	Interval string   `decl:"interval" need:"yes"`
}

// Matcher selects the requests that a limit counts.
type Matcher struct {
	Base
	Method      string   `decl:"method"`
	URLBase     string   `decl:"url_base"`
	PathPattern string   `decl:"url_path_pattern"`
	Params      *Node    `decl:"params"`
	Headers     *Node    `decl:"headers"`
	Weight      Template `decl:"weight" scope:"setup"`
}
