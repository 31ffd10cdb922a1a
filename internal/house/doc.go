// Package house holds the tests that keep the module's packages in their
// places: imports point downward, deciding code stays pure, and each format and
// each open file has one reader. It has no code of its own; the tables are in
// table_test.go, the rules in rules_test.go.
package house
