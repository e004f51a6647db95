//! The suite's prompts and resources.

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Prompt, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceTemplate,
};
use serde_json::{Value, json};

use super::input;
use super::typed;

/// A PNG of one red pixel.
pub const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

/// A WAV file of two silent samples.
pub const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA==";

/// The prompts, as `prompts/list` shows them.
pub fn prompts() -> Result<Vec<Prompt>, ErrorData> {
    let argument = |name: &str| json!({"name": name, "description": "Fixture argument", "required": true});
    typed(json!([
        {"name": "test_simple_prompt", "description": "A prompt without arguments"},
        {"name": "test_prompt_with_arguments", "description": "A prompt with two arguments",
         "arguments": [argument("arg1"), argument("arg2")]},
        {"name": "test_prompt_with_embedded_resource", "description": "A prompt that embeds a resource",
         "arguments": [argument("resourceUri")]},
        {"name": "test_prompt_with_image", "description": "A prompt that holds an image"},
        {"name": "test_input_required_result_prompt", "description": "A prompt that asks for its context first"},
    ]))
}

/// Answers `prompts/get`; none if the prompt isn't a fixture.
pub fn prompt(request: &GetPromptRequestParams) -> Result<Option<GetPromptResponse>, ErrorData> {
    let argument = |name: &str| {
        let value =
            request.arguments.as_ref().and_then(|arguments| arguments.get(name)).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let text = |text: String| json!({"role": "user", "content": {"type": "text", "text": text}});
    let messages = match request.name.as_str() {
        "test_simple_prompt" => json!([text("This is a simple prompt for testing.".to_owned())]),
        "test_prompt_with_arguments" => json!([text(format!(
            "Prompt with arguments: arg1='{}', arg2='{}'",
            argument("arg1"),
            argument("arg2")
        ))]),
        "test_prompt_with_embedded_resource" => json!([
            {"role": "user", "content": {"type": "resource", "resource": {
                "uri": argument("resourceUri"),
                "mimeType": "text/plain",
                "text": "Embedded resource content for testing.",
            }}},
            text("Please process the embedded resource above.".to_owned()),
        ]),
        "test_prompt_with_image" => json!([
            {"role": "user", "content": {"type": "image", "data": PNG, "mimeType": "image/png"}},
            text("Please analyze the image above.".to_owned()),
        ]),
        "test_input_required_result_prompt" => {
            let given = input::accepted(request.input_responses.as_ref(), "user_context", "context");
            let Some(context) = given else {
                let ask = input::elicitation("What context should the prompt use?", "context", "string");
                return Ok(Some(input::required(json!({"user_context": ask}), None)?.into()));
            };
            json!([text(format!("Context: {context}"))])
        }
        _ => return Ok(None),
    };
    Ok(Some(typed::<GetPromptResult>(json!({"resultType": "complete", "messages": messages}))?.into()))
}

/// The resources, as `resources/list` shows them.
pub fn resources() -> Result<Vec<Resource>, ErrorData> {
    typed(json!([
        {"uri": "test://static-text", "name": "static-text", "description": "A text", "mimeType": "text/plain"},
        {"uri": "test://static-binary", "name": "static-binary", "description": "An image", "mimeType": "image/png"},
        {"uri": "test://watched-resource", "name": "watched-resource", "description": "One to subscribe to",
         "mimeType": "text/plain"},
    ]))
}

/// The resource templates.
pub fn templates() -> Result<Vec<ResourceTemplate>, ErrorData> {
    typed(json!([{
        "uriTemplate": "test://template/{id}/data",
        "name": "template",
        "description": "A resource with a parameter",
        "mimeType": "application/json",
    }]))
}

/// Answers `resources/read`; none if the resource isn't a fixture.
pub fn read(uri: &str) -> Result<Option<ReadResourceResponse>, ErrorData> {
    let content = match uri {
        "test://static-text" => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource."})
        }
        "test://static-binary" => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
        "test://watched-resource" => json!({"uri": uri, "mimeType": "text/plain", "text": "Watched."}),
        _ => {
            let inner = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
            let Some(id) = inner else { return Ok(None) };
            let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()})
        }
    };
    Ok(Some(typed::<ReadResourceResult>(json!({"resultType": "complete", "contents": [content]}))?.into()))
}
