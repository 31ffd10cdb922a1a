package governor

// FrontierID is for tests that hold a frontier to the decision that it follows from.
var FrontierID = frontierID
