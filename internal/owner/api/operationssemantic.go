package api

import "github.com/pdpp-go/pdpp/internal/web/reply"

// semanticOperations are about searching by meaning.
var semanticOperations = []Operation{
	{Call: Owner.SemanticSearch, Route: "GET /_ref/semantic-search", Scope: reply.ScopeRead, Name: "getSemanticSearch",
		Tag: "house", Summary: "Whether records are searched by meaning, and where their texts are sent",
		Schema: "SemanticSearch"},
	{Call: Owner.SetSemanticSearch, Route: "PUT /_ref/semantic-search", Scope: reply.ScopeManage,
		Name: "setSemanticSearch", Tag: "house", Summary: "Send texts to an endpoint, to search by meaning",
		Schema: "SemanticSearch", Audit: "setting_change", Setting: "semantic_search",
		Notes: "The endpoint must answer for a test word. Codes: embedding_invalid, embedding_failed."},
	{Call: Owner.EndSemanticSearch, Route: "DELETE /_ref/semantic-search", Scope: reply.ScopeManage,
		Name: "endSemanticSearch", Tag: "house", Summary: "Stop sending texts, and delete what was computed",
		Audit: "setting_change", Setting: "semantic_search"},
}
