//! Credentials: sent to the hub only, and shown in no error.

use crate::server::{Behaviour, Server};
use crate::world::{World, bytes, options};
use aske_chat::Hint;
use aske_weights::PullError;

const TOKEN: &str = "hf_verysecret";

#[tokio::test]
async fn the_token_goes_to_the_hub_and_not_where_it_redirects() {
    let mut world = World::new().await;
    let content = bytes(50_000, 31);
    let (model, file) = world.hub_file(&content);
    let elsewhere = Server::start().await;
    elsewhere.serve("/store/a?signature=verysecret", "application/octet-stream", content);
    let signed = format!("{}/store/a?signature=verysecret", elsewhere.url);
    world.server.set(&file, Behaviour::Redirect(signed.clone()));
    world.options = options(&world.server.url, Some(TOKEN));
    world.pull(&model).await.unwrap();
    let sent = |server: &Server| {
        server.requests().into_iter().map(|request| request.authorization).collect::<Vec<_>>()
    };
    let bearer = Some(format!("Bearer {TOKEN}"));
    assert_eq!(sent(&world.server), [bearer.clone(), bearer]);
    assert_eq!(sent(&elsewhere), [None]);

    // When that place fails, neither the token nor the signature is told.
    world.cache.remove(&model).await.unwrap();
    elsewhere.set("/store/a?signature=verysecret", Behaviour::Status { times: 9, status: 500 });
    let error = world.pull(&model).await.unwrap_err();
    let told = format!("{error} {error:?} {:?}", error.hint());
    assert!(!told.contains("verysecret"), "{told}");
}

#[tokio::test]
async fn a_gated_model_tells_what_to_do_and_no_token() {
    let mut world = World::new().await;
    let (model, _) = world.hub_file(&bytes(50_000, 32));
    world
        .server
        .set("/api/models/owner/name/revision/main?blobs=true", Behaviour::Status { times: 1, status: 403 });
    world.options = options(&world.server.url, Some(TOKEN));
    let error = world.pull(&model).await.unwrap_err();
    assert!(matches!(error, PullError::Forbidden { status: 403, .. }), "{error}");
    let hint = error.hint().unwrap();
    assert!(hint.contains("https://huggingface.co/owner/name") && hint.contains("HF_TOKEN"), "{hint}");
    assert!(!format!("{error} {error:?} {hint}").contains(TOKEN));
}

#[tokio::test]
async fn a_redirect_to_another_scheme_is_refused() {
    let world = World::new().await;
    let (model, file) = world.hub_file(&bytes(50_000, 33));
    world.server.set(&file, Behaviour::Redirect("https://127.0.0.1:1/a".to_owned()));
    let error = world.pull(&model).await.unwrap_err();
    assert!(error.to_string().ends_with("redirect to another scheme"), "{error}");
    world.server.set(&file, Behaviour::Redirect(file.clone()));
    let error = world.pull(&model).await.unwrap_err();
    assert!(error.to_string().ends_with("too many redirects"), "{error}");
}

#[tokio::test]
async fn the_hubs_password_goes_to_the_hub_alone() {
    let mut world = World::new().await;
    let content = bytes(50_000, 34);
    let (model, file) = world.hub_file(&content);
    let elsewhere = Server::start().await;
    elsewhere.serve("/store/a", "application/octet-stream", content);
    world.server.set(&file, Behaviour::Redirect(format!("{}/store/a", elsewhere.url)));
    let address = world.server.url.replace("http://", "http://me:very%20secret@");
    world.options = options(&address, None);
    world.pull(&model).await.unwrap();
    // base64 of `me:very secret`
    let basic = Some("Basic bWU6dmVyeSBzZWNyZXQ=".to_owned());
    assert_eq!(world.server.requests().remove(0).authorization, basic);
    assert_eq!(elsewhere.requests().remove(0).authorization, None);

    world.cache.remove(&model).await.unwrap();
    world.server.set(&file, Behaviour::Status { times: 1, status: 401 });
    let error = world.pull(&model).await.unwrap_err();
    assert!(matches!(error, PullError::Forbidden { .. }), "{error}");
    assert!(!format!("{error} {error:?}").contains("secret"));
}

#[tokio::test]
async fn a_hub_that_cannot_be_reached_is_named_without_the_token() {
    let mut world = World::new().await;
    // Nobody listens on port 1.
    world.options = options("http://127.0.0.1:1", Some(TOKEN));
    let (model, _) = world.hub_file(&bytes(50_000, 35));
    let error = world.pull(&model).await.unwrap_err();
    assert!(error.to_string().contains("cannot connect"), "{error}");
    assert!(error.hint().unwrap().contains("HF_ENDPOINT"));
    assert!(!format!("{error} {error:?}").contains(TOKEN));
}
