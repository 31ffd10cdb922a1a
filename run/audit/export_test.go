package audit

// CheckWithin is Check with a limit of its own.
var CheckWithin = checkWithin
