//! HTTP/1.1 with bounds: connections, requests and answers.
